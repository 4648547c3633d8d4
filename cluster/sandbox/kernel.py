"""The few Linux calls that Python 3.11 has no function for.

Owns nothing but their spelling; OSError with the call's name where the kernel refuses.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_THP_DISABLE = 41
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 0x1
_SYS_MOUNT_SETATTR = 442
_M_ARENA_MAX = -8
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_INOTIFY = {"x86_64": (253, 294), "aarch64": (26,)}
# Of <linux/filter.h>: load the word at an offset, compare, return.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000

_AT_LEAST, _KILL_PROCESS = 0x35, 0x80000000
_ARCH_OFFSET = 4
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_SYS: dict[str, tuple[int | None, int | None]] = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "setns": (308, 268),
    "socket": (41, 198),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""Numbers of system calls on x86-64 and arm64."""
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_DUMPABLE = 4

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def unshare(flags: int) -> None:
    """unshare(2)."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2)."""
    result = _libc.mount(
        source.encode(),
        str(target).encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _check(result, f"mount {kind or source} on {target}")


def bind(source: Path, target: Path, *, recursive: bool = False, read_only: bool = False) -> None:
    """Show `source` at `target`."""
    mount(str(source), target, flags=MS_BIND | (MS_REC if recursive else 0))
    if read_only:
        # mount_setattr keeps the flags that a user namespace has locked; a remount would have to repeat them.
        attributes = _MountAttr(attr_set=_MOUNT_ATTR_RDONLY)
        result = _libc.syscall(
            _SYS_MOUNT_SETATTR,
            _AT_FDCWD,
            str(target).encode(),
            _AT_RECURSIVE if recursive else 0,
            ctypes.byref(attributes),
            ctypes.sizeof(attributes),
        )
        _check(result, f"mount_setattr {target}")


def unmount(target: Path) -> None:
    """Lazy umount2(2)."""
    _check(_libc.umount2(str(target).encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: Path, old: Path) -> None:
    """pivot_root(2): `new` becomes `/`; the former root is found at `old`, a folder below `new`."""
    number = _SYS_PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"pivot_root on {platform.machine()} is not known to us")
    _check(_libc.syscall(number, str(new).encode(), str(old).encode()), "pivot_root")


def die_with_parent(signal_number: int) -> None:
    """PR_SET_PDEATHSIG."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """PR_SET_CHILD_SUBREAPER."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def gain_nothing() -> None:
    """PR_SET_NO_NEW_PRIVS: no program that this process starts has more rights than it, setuid or not."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def refuse_huge_pages() -> None:
    """PR_SET_THP_DISABLE: this process and what it starts gets no transparent huge pages.

    Where a host gives them to everybody (Debian does), a heap of many small holes is rounded up to 2 MB each.
    """
    _check(_libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0), "prctl")


def share_one_heap() -> None:
    """mallopt(3): all threads of this process allocate from one heap, where glibc would make one for each.

    Python runs one of them at a time anyway; memory that one thread frees is then of use to the next.
    """
    if hasattr(_libc, "mallopt"):  # other C libraries have one heap
        _libc.mallopt(_M_ARENA_MAX, 1)


def refuse_inotify() -> None:
    """seccomp(2): to this thread and what it starts, for good, inotify is not implemented."""
    numbers = _SYS_INOTIFY.get(platform.machine(), ())
    tests = [_Instruction(_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    steps = [_Instruction(_LOAD, 0, 0, 0), *tests, _Instruction(_RETURN, 0, 0, _ALLOW)]
    steps.append(_Instruction(_RETURN, 0, 0, _FAIL | errno.ENOSYS))
    program = _Program(len(steps), (_Instruction * len(steps))(*steps))
    result = _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)
    _check(result, "seccomp")


def refuse_calls(names: Iterable[str]) -> None:
    """seccomp(2): to this thread and what it starts, for good, these system calls are not permitted.

    A call by another ABI of the processor (32 bits, x32), where numbers mean something else, ends the process.
    OSError where the processor is one whose numbers we don't know.
    """
    machine = platform.machine()
    if machine not in _AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"seccomp on {machine} is not known to us")
    column = 0 if machine == "x86_64" else 1
    numbers = [number for name in names if (number := _SYS[name][column]) is not None]
    steps = [
        _Instruction(_LOAD, 0, 0, _ARCH_OFFSET),
        _Instruction(_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        _Instruction(_RETURN, 0, 0, _KILL_PROCESS),
        _Instruction(_LOAD, 0, 0, 0),
        _Instruction(_AT_LEAST, 0, 1, _X32),
        _Instruction(_RETURN, 0, 0, _KILL_PROCESS),
        *(_Instruction(_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)),
        _Instruction(_RETURN, 0, 0, _ALLOW),
        _Instruction(_RETURN, 0, 0, _FAIL | errno.EPERM),
    ]
    program = _Program(len(steps), (_Instruction * len(steps))(*steps))
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0), "seccomp")


def empty_bounding_set() -> None:
    """PR_CAPBSET_DROP: no program that is started from here on gets a capability; what this process has stays."""
    for number in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) < 0 and ctypes.get_errno() != errno.EINVAL:
            _check(-1, "prctl")  # EINVAL: the kernel knows no such capability


def give_up_capabilities() -> None:
    """capset(2): for good, this process has none; nor does what it starts, set-user-id programs included."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(ctypes.byref(header), ctypes.byref(none)), "capset")
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def hide_from_others() -> None:
    """PR_SET_DUMPABLE: no other process of the same user may look into this one."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
