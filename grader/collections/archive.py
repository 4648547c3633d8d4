"""A collection from an archive: tar (plain, gzip, bzip2 or xz) and zip, unpacked under a count of every byte.

Owns how archives are read: as a stream, by what they hold and not by what they are called, and never to a place that
an archive names itself. What they say of sizes is not believed.
"""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Protocol

from cluster.i18n import _
from grader.collections.intake import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.collections.intake import Intake

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz", ".zip")
_CHUNK = 1 << 16
_XZ_MEMORY = 128 * MIB
_HEADERS = 16 * MIB
"""What the headers and padding of a tar may take beside its files."""
_ZIP_END = struct.Struct("<4s4H2LH")
_ZIP_ENTRY = 512
"""Bytes of a zip's directory for each file: more is not read."""


class _Decompressor(Protocol):
    """What bz2, lzma and zlib have in common here."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """zlib's own object, with the interface of the other two."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Expanded(io.RawIOBase):
    """What a compressed file expands to, chunk by chunk, until it is more than it may be."""

    def __init__(self, source: IO[bytes], decompressor: _Decompressor | None, intake: Intake, packed: int) -> None:
        self._source = source
        self._decompressor = decompressor
        self._intake = intake
        self._packed = packed
        self._expanded = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, never all of it at once."""
        data = self._next(_CHUNK if size < 0 else min(size, MIB))
        self._expanded += len(data)
        limits = self._intake.limits
        if self._expanded > limits.total + _HEADERS:
            raise self._intake.refused(_("more than {limit} MiB in all").format(limit=limits.total // MIB))
        if self._expanded > MIB and self._expanded > limits.ratio * self._packed:
            raise self._intake.refused(_("expands to more than {ratio} times its size").format(ratio=limits.ratio))
        return data

    def _next(self, size: int) -> bytes:
        if self._decompressor is None:
            return self._source.read(size)
        while not self._decompressor.eof:
            more = self._source.read(_CHUNK) if self._decompressor.needs_input else b""
            data = self._decompressor.decompress(more, size)
            if data:
                return data
            if not more and self._decompressor.needs_input and not self._decompressor.eof:
                raise self._intake.refused(_("the archive ends too early"))
        return b""


def take_archive(source: Path, intake: Intake) -> None:
    """Take in every file of the archive `source`. UsageProblem: it is none, or holds what may not be."""
    packed = source.stat().st_size
    if packed > intake.limits.packed:
        raise intake.refused(_("larger than {limit} MiB").format(limit=intake.limits.packed // MIB))
    try:
        with source.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
                _take_zip(file, intake, packed)
            else:
                _take_tar(_Expanded(file, _decompressor(magic), intake, packed), intake)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise intake.refused(_("no archive that can be read: {why}").format(why=error)) from error
    except (OSError, ValueError, NotImplementedError, OverflowError, RecursionError, struct.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise intake.refused(_("no archive that can be read: {why}").format(why=why)) from error


def _decompressor(magic: bytes) -> _Decompressor | None:
    if magic.startswith(b"\x1f\x8b"):
        return _Gunzip()
    if magic.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if magic == b"\xfd7zXZ\x00":
        return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
    return None


def _take_tar(source: _Expanded, intake: Intake) -> None:
    # "r|": read once, front to back; nothing in it can send the reader elsewhere.
    with tarfile.open(fileobj=source, mode="r|", errorlevel=1, encoding="utf-8", errors="surrogateescape") as tar:
        for member in tar:
            name = member.name
            if member.isdir():
                intake.folder(name)
            elif member.issym():
                intake.link(name, member.linkname)
            elif member.islnk():
                intake.count()
                message = _("a hard link: put the file itself into the archive")
                raise intake.refused(message, name)
            elif member.isreg() and not member.issparse():
                if member.size > intake.limits.file:
                    intake.file(name, member.size, ())  # refuses it, in its words
                content = tar.extractfile(member)
                assert content is not None, "a regular file has content"
                intake.file(name, member.size, _exactly(content, member.size))
            else:
                intake.special(name)
            tar.members.clear()  # type: ignore[attr-defined]  # typeshed has it private; it would grow without end


def _exactly(content: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left and (chunk := content.read(min(left, _CHUNK))):
        left -= len(chunk)
        yield chunk
    if left:
        raise EOFError(_("it ends in the middle of a file"))


def _take_zip(file: IO[bytes], intake: Intake, packed: int) -> None:
    _judge_directory(file, intake, packed)
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.is_dir():
                intake.folder(info.filename)
            elif info.flag_bits & 0x1:
                raise intake.refused(_("it is encrypted"), info.filename)
            elif kind == stat.S_IFLNK:
                if info.file_size > intake.limits.name:
                    raise intake.refused(_("a link that is no path"), info.filename)
                with archive.open(info) as content:
                    intake.link(info.filename, content.read(intake.limits.name).decode(errors="replace"))
            elif kind not in (0, stat.S_IFREG):
                intake.special(info.filename)
            elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise intake.refused(_("packed by a method other than deflate"), info.filename)
            else:
                _take_zipped(archive, info, intake, packed)


def _take_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, intake: Intake, packed: int) -> None:
    # Many names may mean the same packed bytes, so what counts is what came out of all of them together.
    most = max(intake.limits.ratio * packed, MIB)
    if intake.received + info.file_size > most:
        raise intake.refused(_("expands to more than {ratio} times its size").format(ratio=intake.limits.ratio))
    if info.file_size > intake.limits.file:
        intake.file(info.filename, info.file_size, ())  # refuses it, in its words
    with archive.open(info) as content:
        intake.file(info.filename, info.file_size, iter(lambda: content.read(_CHUNK), b""))


def _judge_directory(file: IO[bytes], intake: Intake, packed: int) -> None:
    """Refuse a directory of so many entries that reading it would be the harm."""
    tail = min(packed, (1 << 16) + _ZIP_END.size)
    file.seek(packed - tail)
    data = file.read(tail)
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) - at < _ZIP_END.size:
        raise zipfile.BadZipFile(_("it has no directory"))
    *_ignored, entries, size, _offset, _comment = _ZIP_END.unpack_from(data, at)
    if entries > intake.limits.files or size > intake.limits.files * _ZIP_ENTRY:
        raise intake.refused(_("more than {limit} files").format(limit=intake.limits.files))
    file.seek(0)
