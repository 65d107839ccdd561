"""Compressed files are told by their bytes, unpacked within the limits, and named when they are broken."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.compressed_files import unpack

CANARY = "Quillfeather-4711"


def zipped(data: bytes, *others: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/data.csv", data)
        for name in others:
            archive.writestr(name, b"")
    return made.getvalue()


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data))


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd, "zip": zipped}


def held(data: bytes) -> Held:
    found = unpack(Held("data", data), Limits())
    assert isinstance(found, Held)
    return found


@pytest.mark.parametrize("kind", PACKERS)
def test_what_was_packed_comes_out_whatever_the_name(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(PACKERS[kind](b"a\n007\n" * 100_000))
    assert unpack(path, Limits()) == Held("data.csv", b"a\n007\n" * 100_000)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_parts_that_were_packed_one_after_the_other_are_one_file(kind: str) -> None:
    assert held(PACKERS[kind](b"a\n1\n") + PACKERS[kind](b"2\n")).data == b"a\n1\n2\n"


def test_a_plain_file_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "data.gz").write_bytes(b"a\n1\n")
    assert unpack(tmp_path / "data.gz", Limits()) == tmp_path / "data.gz"


def test_what_macos_and_others_add_to_an_archive_is_no_data() -> None:
    assert held(zipped(b"a\n", "__MACOSX/folder/._data.csv", "folder/.DS_Store", "folder/")).data == b"a\n"


def test_an_archive_of_several_files_is_refused_without_their_names() -> None:
    with pytest.raises(InputError, match=r"^data: must be an archive of one file, got 2$"):
        held(zipped(b"a\n", f"{CANARY}.csv"))


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("cut", [5, -5])
def test_a_file_that_is_cut_off_is_refused(kind: str, cut: int) -> None:
    with pytest.raises(InputError, match=r"^data: must be a compressed file that is whole") as caught:
        held(PACKERS[kind](CANARY.encode() * 50)[:cut])
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("kind", PACKERS)
def test_few_bytes_that_would_become_many_are_refused_by_their_limit(kind: str) -> None:
    bomb = Held("data", PACKERS[kind](b"\0" * 10_000_000))
    assert len(bomb.data) < 20_000
    with pytest.raises(InputError, match=r"must keep the limit uncompressed_bytes \(5,000,000\)"):
        unpack(bomb, Limits(uncompressed_bytes=5_000_000))
    with pytest.raises(InputError, match=r"must keep the limit file_bytes \(10\)"):
        unpack(bomb, Limits(file_bytes=10))


def test_an_encrypted_archive_is_refused() -> None:
    data = bytearray(zipped(b"a\n"))
    data[6] |= 1  # in the entry
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # and in the directory
    with pytest.raises(InputError, match="must be a compressed file that is whole: RuntimeError"):
        held(bytes(data))
