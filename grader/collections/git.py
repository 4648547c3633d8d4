"""A collection from git: a commit is fetched and its files read out of the store, and nothing is ever checked out.

Owns how git is called: no hook, filter, submodule, LFS or setting of the repository gets to run, only https, ssh and
file are spoken, nobody is asked for a password, and there is an end to time and size. Files are asked for by their
ids, so that attributes and filters of the repository have no part in it.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _
from grader.checks.words import shorten
from grader.collections.intake import MIB, is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.collections.intake import Intake, Limits

SCHEMES = ("https", "ssh", "file")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)(://|::)(?P<rest>.*)\Z", re.DOTALL)
_SCP = re.compile(r"(?P<user>[A-Za-z0-9._-]+@)(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>[^:/].*)\Z")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?\Z")
_CHUNK = 1 << 16
_LOCAL_SECONDS = 20.0
_SETTINGS = {
    "protocol.allow": "never",
    **{f"protocol.{scheme}.allow": "always" for scheme in SCHEMES},
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.askPass": "",
    "credential.interactive": "false",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.unpackLimit": "1",  # one pack, whatever there is: its size is the file's, and that has a limit
    "fetch.bundleURI": "",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "http.followRedirects": "initial",
}
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "/bin/false",
    "SSH_ASKPASS": "/bin/false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
    "GIT_ALLOW_PROTOCOL": ":".join(SCHEMES),
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The commit a work tree stands on, and the ids of the files it has there, by path."""

    commit: str
    blobs: dict[str, str]


def is_url(text: str) -> bool:
    """Whether `text` means a repository rather than a path."""
    return bool(_URL.match(text) or _SCP.match(text))


def checked_url(url: str) -> str:
    """`url` where git may be given it. UsageProblem: another protocol, a password in it, an option in disguise."""
    shown = shorten(url, 100)
    if url.startswith("-") or any(ord(character) <= 32 or ord(character) == 127 for character in url):
        raise UsageProblem(_("{url} is no address of a repository").format(url=shown))
    found = _URL.match(url)
    if found is None:
        if _SCP.match(url):
            return url
        raise UsageProblem(_("{url} is no address of a repository").format(url=shown))
    scheme = found["scheme"].lower()
    if scheme not in SCHEMES or found[2] != "://":
        message = _("{url}: git is not asked over '{scheme}'").format(url=shown, scheme=scheme)
        raise UsageProblem(message, _("allowed: {names}").format(names=", ".join(SCHEMES)))
    host = found["rest"].partition("/")[0]
    user, at, name = host.rpartition("@")
    if name.startswith("-") or user.startswith("-") or (scheme != "file" and not name):
        raise UsageProblem(_("{url} is no address of a repository").format(url=shown))
    if at and (":" in user or scheme == "https"):
        raise UsageProblem(
            _("the address has a name or password in it, which would be kept in plain text"),
            _("leave it out, and let git's credential helper know it"),
        )
    return url


def checked_ref(ref: str) -> str:
    """A branch, tag or commit that git may be given; UsageProblem."""
    if not _REF.match(ref) or ".." in ref or "//" in ref or ref.endswith((".lock", "/", ".")):
        raise UsageProblem(_("{ref} is no name of a branch, tag or commit").format(ref=shorten(repr(ref), 80)))
    return ref


def take_git(url: str, ref: str, intake: Intake) -> str:
    """Fetch `ref` ("" for what the repository has as its HEAD) and take in its files; the commit."""
    with tempfile.TemporaryDirectory(prefix="batchlab-git-") as scratch:
        store = Path(scratch) / "store.git"
        limits = intake.limits
        _git(["init", "--quiet", "--bare", "--template=", str(store)], Path(scratch), limits)
        fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-commit-graph"]
        _git([*fetch, "--", checked_url(url), checked_ref(ref) if ref else "HEAD"], store, limits, url=url)
        commit = _git(["rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}"], store, limits).decode().strip()
        if not _COMMIT.match(commit):
            raise EnvironmentProblem(_("git did not say which commit it fetched"))
        files = []
        for mode, kind, blob, size, path in _entries(store, commit, limits):
            if kind == "commit":
                intake.folder(path)  # a submodule: not fetched
            elif mode == "120000":
                intake.link(path, _link_target(store, blob, size, limits, intake, path))
            else:
                files.append((path, blob, size))
                if size > limits.file or len(files) > limits.files:
                    intake.file(path, size, ())  # refuses it, in its words
        if sum(size for _path, _blob, size in files) > limits.total:
            raise intake.refused(_("more than {limit} MiB in all").format(limit=limits.total // MIB))
        _read_blobs(store, files, intake)
        return commit


def head_of(folder: Path) -> Head | None:
    """The commit that `folder` stands on, and what of it lies below; None where that is no work tree of git.

    Only names and ids are asked for: no filter of the repository, which is a stranger's, gets to run.
    """
    if shutil.which("git") is None:
        return None
    try:
        commit = _git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], folder, None).decode().strip()
        listing = _git(["ls-tree", "-r", "-z", "HEAD"], folder, None)
    except (UsageProblem, EnvironmentProblem):
        return None
    if not _COMMIT.match(commit):
        return None
    blobs = {}
    for line in listing.split(b"\0")[:-1]:
        words, _tab, path = line.partition(b"\t")
        blobs[os.fsdecode(path)] = words.split()[2].decode()
    return Head(commit, blobs)


# -- beneath ------------------------------------------------------------------------------------------


def _entries(store: Path, commit: str, limits: Limits) -> Iterator[tuple[str, str, str, int, str]]:
    listing = _git(["ls-tree", "-r", "-z", "--long", "--full-tree", commit], store, limits)
    for line in listing.split(b"\0")[:-1]:
        words, _tab, path = line.partition(b"\t")
        mode, kind, blob, size = words.decode().split()
        yield mode, kind, blob, int(size) if size.isdigit() else 0, os.fsdecode(path)


def _link_target(store: Path, blob: str, size: int, limits: Limits, intake: Intake, path: str) -> str:
    if size > limits.name:
        raise intake.refused(_("a path of more than {limit} bytes").format(limit=limits.name), path)
    return os.fsdecode(_git(["cat-file", "blob", blob], store, limits))


def _read_blobs(store: Path, files: Sequence[tuple[str, str, int]], intake: Intake) -> None:
    """Each file's content, by one process that is told one id at a time."""
    process = subprocess.Popen(
        _command(["cat-file", "--batch"]),
        cwd=store,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin as ask, process.stdout as answer:
        try:
            for path, blob, size in files:
                if is_left_out(intake.parts(path)):
                    intake.count()
                    continue
                ask.write(f"{blob}\n".encode())
                ask.flush()
                header = answer.readline().split()
                if len(header) != 3 or header[1] != b"blob" or int(header[2]) != size:
                    raise EnvironmentProblem(_("git could not read {path} of what it fetched").format(path=path))
                intake.file(path, size, _chunks(answer, size))
                answer.read(1)  # the line feed behind it
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(BrokenPipeError):
                ask.close()
            process.wait()


def _chunks(source: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = source.read(min(left, _CHUNK))
        if not chunk:
            raise EnvironmentProblem(_("git ended in the middle of a file"))
        left -= len(chunk)
        yield chunk


def _git(words: Sequence[str], folder: Path, limits: Limits | None, url: str = "") -> bytes:
    """What git answers. UsageProblem where it refuses, EnvironmentProblem where it can't be run or takes too long."""
    packed = limits.packed if limits else 0
    seconds = limits.seconds if limits else _LOCAL_SECONDS
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        try:
            process = subprocess.Popen(
                _command(words),
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complained,
                start_new_session=True,
                preexec_fn=(lambda: _limit_files(packed)) if packed else None,  # noqa: PLW1509  # no threads here
            )
        except FileNotFoundError as error:
            raise EnvironmentProblem(_("git is not installed"), _("install it: apt-get install git")) from error
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            message = _("git was not done after {seconds:.0f} s: {url}").format(seconds=seconds, url=url or words[0])
            raise EnvironmentProblem(message, _("nothing was added")) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # helpers of its own, too
            process.wait()
        said.seek(0)
        complained.seek(0)
        if code:
            raise _complaint(complained.read(16384).decode(errors="replace"), url or " ".join(words), packed)
        return said.read()


def _limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that git gets to say what is wrong
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _complaint(text: str, what: str, packed: int) -> UsageProblem:
    lines = [line for line in text.splitlines() if line.strip()]
    if any("File too large" in line for line in lines):
        message = _("{url} is larger than {limit} MiB").format(url=what, limit=packed // MIB)
        return UsageProblem(message, _("nothing was added"))
    said = next((line for line in lines if line.startswith(("fatal:", "error:", "ssh:"))), lines[-1] if lines else "")
    message = _("git can't fetch {url}: {why}").format(url=what, why=shorten(said.removeprefix("fatal: "), 200))
    return UsageProblem(message, _("nothing was added"))


def _command(words: Sequence[str]) -> list[str]:
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    return ["git", "--no-pager", *settings, *words]


def _environment() -> dict[str, str]:
    """The caller's, without anything that steers git: their own settings and credential helpers stay theirs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "LC_"))}
    return {**kept, **_ENVIRONMENT}
