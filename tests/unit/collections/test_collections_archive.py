"""Archives: what each kind of trap comes to, and that an honest one is unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.collections.archive import take_archive
from grader.collections.intake import Intake, Limits
from grader.collections.source import fetch, origin_of
from tests.unit.collections.conftest import LAB

MIB = 1 << 20
TEXT = LAB.format(lab="lab-x", title="A lab").encode()
SMALL = Limits(files=50, file=MIB, total=4 * MIB, packed=MIB)


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zip_of(*members: tuple[str, bytes, int]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


class Unpacked:
    """Unpacks bytes as an archive into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "archive"
        self.intake = Intake(folder / "in", "archive", SMALL)
        self.intake.root.mkdir()

    def __call__(self, data: bytes) -> list[str]:
        self.file.write_bytes(data)
        take_archive(self.file, self.intake)
        root = self.intake.root
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())

    @property
    def size(self) -> int:
        """Bytes that are on the disk."""
        return sum(path.stat().st_size for path in self.intake.root.rglob("*") if path.is_file())


@pytest.fixture
def unpack(tmp_path: Path) -> Unpacked:
    return Unpacked(tmp_path)


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("tar", bytes), ("tar.gz", gzip.compress), ("tar.bz2", bz2.compress), ("tar.xz", lzma.compress)],
)
def test_an_honest_tar(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    data = tar_of((member("x-1.0", tarfile.DIRTYPE), b""), (member("x-1.0/labs/lab-x/lab.md"), TEXT))
    (tmp_path / f"x.{ending}").write_bytes(pack(data))
    (tmp_path / "scratch").mkdir()
    fetched = fetch(origin_of(str(tmp_path / f"x.{ending}")), tmp_path / "scratch")
    assert fetched.labs == ("lab-x",)
    assert (fetched.tree / "lab-x/lab.md").read_bytes() == TEXT
    assert fetched.commit == ""


def test_an_honest_zip(unpack: Unpacked) -> None:
    assert unpack(zip_of(("labs/", b"", 0), ("labs/lab-x/lab.md", TEXT, 0o100644))) == ["labs/lab-x/lab.md"]


class TestTar:
    @pytest.mark.parametrize(
        ("info", "why"),
        [
            (member("../evil"), r"\.\./evil: a path with '\.\.' in it"),
            (member("/etc/cron.d/evil"), "an absolute path"),
            (member("a/link", tarfile.SYMTYPE, "/etc/passwd"), "a/link: a link that leads out of the collection"),
            (member("a/link", tarfile.SYMTYPE, "../../x"), "a link that leads out of the collection"),
            (member("a/link", tarfile.LNKTYPE, "../../x"), "a/link: a hard link"),
            (member("a/null", tarfile.CHRTYPE), "a/null: no plain file"),
            (member("a/sda", tarfile.BLKTYPE), "a/sda: no plain file"),
            (member("a/pipe", tarfile.FIFOTYPE), "a/pipe: no plain file"),
            (member("a/sparse", tarfile.GNUTYPE_SPARSE), "no plain file|no archive that can be read"),
        ],
    )
    def test_a_member_that_has_no_place(self, unpack: Unpacked, info: tarfile.TarInfo, why: str) -> None:
        with pytest.raises(UsageProblem, match=why):
            unpack(tar_of((info, b"")))
        assert unpack.size == 0

    def test_through_a_link_of_its_own(self, unpack: Unpacked, tmp_path: Path) -> None:
        """First a link to a folder outside, then a file in it: the way most archives break out."""
        data = tar_of((member("a", tarfile.SYMTYPE, str(tmp_path)), b""), (member("a/evil"), b"x"))
        with pytest.raises(UsageProblem, match="a link that leads out"):
            unpack(data)
        inside = tar_of((member("d/a", tarfile.SYMTYPE, "../e"), b""), (member("d/a/evil"), b"x"))
        assert unpack(inside) == ["d/a/evil"], "a folder, since links are never made"
        assert not (tmp_path / "evil").exists()

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_a_bomb(self, unpack: Unpacked, pack: Callable[[bytes], bytes]) -> None:
        members = [(member(f"z{number}"), bytes(MIB)) for number in range(40)]
        with pytest.raises(UsageProblem, match=r"more than 4 MiB in all|expands to more than 200 times its size"):
            unpack(pack(tar_of(*members)))
        assert unpack.size <= 5 * MIB

    def test_a_bomb_in_what_is_left_out(self, unpack: Unpacked) -> None:
        members = [(member(f".hidden/z{number}"), bytes(MIB)) for number in range(40)]
        with pytest.raises(UsageProblem, match=r"in all|times its size"):
            unpack(gzip.compress(tar_of(*members)))
        assert unpack.size == 0

    def test_a_bomb_in_a_header(self, unpack: Unpacked) -> None:
        info = member("a")
        info.pax_headers = {"comment": "x" * (32 * MIB)}
        with pytest.raises(UsageProblem, match=r"in all|times its size"):
            unpack(gzip.compress(tar_of((info, b""))))

    def test_a_header_of_headers(self, unpack: Unpacked) -> None:
        long = member("././@LongLink", tarfile.GNUTYPE_LONGNAME)
        data = b"".join(long.tobuf(tarfile.GNU_FORMAT) for _number in range(1500))
        with pytest.raises(UsageProblem, match=r"no archive that can be read|no lab"):
            unpack(data)

    def test_xz_that_wants_gigabytes_of_memory(self, unpack: Unpacked) -> None:
        small = [{"id": lzma.FILTER_LZMA2, "dict_size": MIB}]
        data = bytearray(lzma.compress(tar_of((member("a"), b"x")), filters=small, check=lzma.CHECK_NONE))
        at = data.index(b"\x21\x01") + 2  # the one byte of LZMA2's properties
        data[at] = 36  # 1 GiB
        header = 12
        length = (data[header] + 1) * 4
        data[header + length - 4 : header + length] = struct.pack("<I", _crc(bytes(data[header : header + length - 4])))
        with pytest.raises(UsageProblem, match=r"no archive that can be read: .*[Mm]emory"):
            unpack(bytes(data))

    def test_too_many(self, unpack: Unpacked) -> None:
        members = [(member(f"f{number}"), b"") for number in range(60)]
        with pytest.raises(UsageProblem, match="more than 50 files"):
            unpack(tar_of(*members))

    def test_that_says_a_file_is_huge(self, unpack: Unpacked) -> None:
        info = member("huge")
        info.size = 1 << 40
        with pytest.raises(UsageProblem, match="huge: larger than 1 MiB"):
            unpack(info.tobuf(tarfile.GNU_FORMAT))

    @pytest.mark.parametrize("cut", [100, 700, 1100])
    def test_that_ends_too_early(self, unpack: Unpacked, cut: int) -> None:
        with pytest.raises(UsageProblem, match=r"no archive that can be read|ends too early"):
            unpack(gzip.compress(tar_of((member("a"), bytes(range(256)) * 4)))[:-8][: max(cut // 10, 20)])

    @pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b" + b"x" * 100, b"BZh9" + b"x" * 100])
    def test_that_is_none(self, unpack: Unpacked, data: bytes) -> None:
        with pytest.raises(UsageProblem, match="archive"):
            unpack(data)

    def test_that_is_huge_itself(self, unpack: Unpacked) -> None:
        with pytest.raises(UsageProblem, match="archive: larger than 1 MiB"):
            unpack(bytes(MIB + 1))


class TestZip:
    @pytest.mark.parametrize(
        ("name", "mode", "data", "why"),
        [
            ("../evil", 0, b"x", r"a path with '\.\.' in it"),
            ("/evil", 0, b"x", "an absolute path"),
            ("a\\..\\..\\evil", 0, b"x", r"a name with|\.\."),
            ("a/link", stat.S_IFLNK | 0o777, b"/etc/passwd", "a link that leads out of the collection"),
            ("a/pipe", stat.S_IFIFO | 0o644, b"", "no plain file"),
            ("a/sda", stat.S_IFBLK | 0o644, b"", "no plain file"),
        ],
    )
    def test_a_member_that_has_no_place(self, unpack: Unpacked, name: str, mode: int, data: bytes, why: str) -> None:
        with pytest.raises(UsageProblem, match=why):
            unpack(zip_of((name, data, mode)))
        assert unpack.size == 0

    def test_a_bomb(self, unpack: Unpacked) -> None:
        with pytest.raises(UsageProblem, match=r"times its size|in all"):
            unpack(zip_of(*((f"z{number}", bytes(MIB), 0) for number in range(40))))
        assert unpack.size <= 5 * MIB

    def test_that_lies_about_sizes(self, unpack: Unpacked) -> None:
        data = bytearray(zip_of(("a", bytes(3 * MIB), 0)))
        for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
            at = data.index(signature) + offset
            data[at : at + 4] = struct.pack("<I", 10)
        with pytest.raises(UsageProblem):
            unpack(bytes(data))
        assert unpack.size <= MIB

    def test_whose_files_overlap(self, unpack: Unpacked) -> None:
        """One packed file that stands under many names, as the worst of zip bombs have it."""
        one = zip_of(("a", bytes(MIB), 0))
        at = one.index(b"PK\x01\x02")
        end = one.rindex(b"PK\x05\x06")
        entry = one[at:end]
        entries = b"".join(entry[:46] + bytes([97 + number]) + entry[47:] for number in range(26))
        tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 26, 26, len(entries), at, 0)
        with pytest.raises(UsageProblem):
            unpack(one[:at] + entries + tail)
        assert unpack.size <= 5 * MIB

    def test_with_a_password(self, unpack: Unpacked) -> None:
        data = bytearray(zip_of(("a", b"x", 0)))
        for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
            data[data.index(signature) + offset] |= 1
        with pytest.raises(UsageProblem, match="a: it is encrypted"):
            unpack(bytes(data))

    def test_packed_by_another_method(self, unpack: Unpacked) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("a", b"x")
        with pytest.raises(UsageProblem, match="packed by a method other than deflate"):
            unpack(out.getvalue())

    def test_too_many_is_seen_before_they_are_read(self, unpack: Unpacked, monkeypatch: pytest.MonkeyPatch) -> None:
        data = zip_of(*((f"f{number}", b"", 0) for number in range(60)))

        def read(*_args: object, **_options: object) -> None:
            raise AssertionError("the directory was read")

        monkeypatch.setattr(zipfile, "ZipFile", read)
        with pytest.raises(UsageProblem, match="more than 50 files"):
            unpack(data)

    def test_without_a_directory(self, unpack: Unpacked) -> None:
        with pytest.raises(UsageProblem, match="no archive that can be read"):
            unpack(zip_of(("a", b"x", 0))[:40])


def _crc(data: bytes) -> int:
    return zlib.crc32(data)
