"""Sources that are too large: refused by the limit's name, before they fill the memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.bounds import refuse_long_texts
from anon_pipeline.sources.files import read_csv
from anon_pipeline.sources.parquet import read_parquet
from tests.example_counts import examples_of

ROOT = Path(__file__).resolve().parents[2]


def csv(path: Path, content: bytes, encoding: str = "utf-8", **limits: int) -> int:
    path.write_bytes(content)
    return len(read_csv(path, options=SourceOptions(encoding=encoding), limits=Limits(**limits)))


CSV = [
    ("file_bytes", b"a,b\n1,2\n", 7),
    ("line_bytes", b"a,b\n1," + b"2" * 96 + b"\n", 97),
    ("line_bytes", b"a,b\n1,2\n3," + b"4" * 98, 99),
    ("line_bytes", b"a," + b"b" * 99 + b"\n1,2\n", 100),
    ("line_bytes", b'"a' + b"\n" * 300 + b'",b\n1,2\n', 100),
    ("columns", b"a,b,c\n1,2,3\n", 2),
    ("cell_bytes", b"a,b\n1,2345\n", 3),
    ("rows", b"a,b\n1,2\n3,4\n5,6\n", 2),
    ("rows", b"a,b\r1,2\r3,4\r5,6\r", 2),
]


@pytest.mark.parametrize(("limit", "content", "most"), CSV)
def test_csv_beyond_a_limit(tmp_path: Path, limit: str, content: bytes, most: int) -> None:
    with pytest.raises(InputError, match=rf"must keep the limit {limit} \({most}\)"):
        csv(tmp_path / "data.csv", content, **{limit: most})


@pytest.mark.parametrize(("limit", "content", "most"), CSV)
def test_csv_at_the_limit(tmp_path: Path, limit: str, content: bytes, most: int) -> None:
    assert csv(tmp_path / "data.csv", content, **{limit: 400 if limit == "line_bytes" else most + 1}) > 0


def test_a_newline_within_quotes_is_no_record(tmp_path: Path) -> None:
    assert csv(tmp_path / "data.csv", b'a,b\n1,"x\ny\nz"\n2,"\n\n\n"\n', rows=2) == 2


def test_a_quoted_record_longer_than_a_block(tmp_path: Path) -> None:
    content = b'a,b\n1,"' + b"x\n" * 2**20 + b'"\n'
    with pytest.raises(InputError, match=r"must keep the limit line_bytes \(1,048,576\)"):
        csv(tmp_path / "data.csv", content)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "utf-8", "latin-1", "cp1252"])
def test_lines_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    long = ("a,b\n1,2\n3," + "\u0041" * 2**12 + "\n").encode(encoding)
    with pytest.raises(InputError, match="line_bytes"):
        csv(tmp_path / "data.csv", long, encoding, line_bytes=2**12)
    assert csv(tmp_path / "data.csv", long, encoding, line_bytes=2**13) == 2


def test_newlines_that_are_halves_of_characters(tmp_path: Path) -> None:
    """U+0A0A is twice the byte of a newline in UTF-16."""
    content = ("a,b\n1," + "\u0a0a" * 2**12 + "\n").encode("utf-16")
    with pytest.raises(InputError, match="line_bytes"):
        csv(tmp_path / "data.csv", content, "utf-16", line_bytes=2**12)


@settings(max_examples=examples_of(60))
@given(lengths=st.lists(st.integers(0, 40), min_size=1, max_size=30), most=st.integers(1, 40))
def test_the_longest_line_is_found_whatever_the_blocks(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], most: int
) -> None:
    from anon_pipeline.sources import bounds

    path = tmp_path_factory.getbasetemp() / "lines.csv"
    path.write_bytes(b"\n".join(b"x" * n for n in lengths))
    before, bounds._BLOCK = bounds._BLOCK, 7
    try:
        if max(lengths) > most:
            with pytest.raises(InputError, match="line_bytes"):
                bounds.refuse_long_lines(path, "utf-8", Limits(line_bytes=most))
        else:
            assert bounds.refuse_long_lines(path, "utf-8", Limits(line_bytes=most)) == len(lengths)
    finally:
        bounds._BLOCK = before


def test_ten_gigabytes_are_refused_by_their_size(tmp_path: Path) -> None:
    with (tmp_path / "data.csv").open("wb") as file:
        file.write(b"a,b\n1,")
        file.truncate(10 * 2**30)  # sparse
    with pytest.raises(InputError, match=r"limit file_bytes \(4,294,967,296\), got 10,737,418,240"):
        read_csv(tmp_path / "data.csv", options=SourceOptions())
    with pytest.raises(InputError, match=r"limit line_bytes"):
        read_csv(tmp_path / "data.csv", options=SourceOptions(), limits=Limits(file_bytes=2**40))


@pytest.mark.parametrize("reader", ["csv", "parquet"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, reader: str) -> None:
    os.mkfifo(tmp_path / "data")
    with pytest.raises(InputError, match="it is no plain file"):
        if reader == "csv":
            read_csv(tmp_path / "data", options=SourceOptions())
        else:
            read_parquet(tmp_path / "data")


# Parquet


def test_parquet_beyond_each_limit(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": ["x" * 50] * 100, "b": range(100)}), path)
    assert len(read_parquet(path, limits=Limits(rows=100, columns=2, cell_bytes=50))) == 100
    for limit, most in {"file_bytes": 99, "rows": 99, "columns": 1, "cell_bytes": 49}.items():
        with pytest.raises(InputError, match=rf"must keep the limit {limit} \({most}\)"):
            read_parquet(path, limits=Limits(**{limit: most}))
    with pytest.raises(InputError, match=r"must keep the limit uncompressed_bytes \(500\)"):
        read_parquet(path, limits=Limits(uncompressed_bytes=500))


def test_a_fixed_length_beyond_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": pa.array([b"x" * 64] * 3, pa.binary(64))}), path)
    with pytest.raises(InputError, match=r"limit cell_bytes \(63\), got 64"):
        read_parquet(path, limits=Limits(cell_bytes=63))


def bomb(path: Path, rows: int, length: int) -> Path:
    """Write one long text many times: a few kilobytes that say gigabytes."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * length]))
    pq.write_table(pa.table({"a": text}), path, compression="zstd", store_schema=False)
    return path


def test_a_dictionary_that_says_much_more_than_it_holds(tmp_path: Path) -> None:
    path = bomb(tmp_path / "data.parquet", 2_000_000, 100_000)  # 200 GB
    assert path.stat().st_size < 100_000
    assert pq.read_metadata(path).row_group(0).total_byte_size < 2_000_000
    with pytest.raises(InputError, match="must keep the limit uncompressed_bytes"):
        read_parquet(path)


def varint(number: int) -> bytes:
    number, parts = number << 1, []
    while True:
        number, low = number >> 7, number & 0x7F
        parts.append(low | (0x80 if number else 0))
        if not number:
            return bytes(parts)


def test_metadata_that_lies(tmp_path: Path) -> None:
    """The sizes in the footer are patched to almost nothing; what is read is counted all the same."""
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": range(1_000_000)}), path, use_dictionary=False, compression="zstd")
    data, meta = path.read_bytes(), pq.read_metadata(path).row_group(0)
    for size in {meta.total_byte_size, meta.column(0).total_uncompressed_size}:
        said = varint(size)
        assert said in data
        data = data.replace(said, b"\x80" * (len(said) - 1) + b"\x00")  # zero, as long
    path.write_bytes(data)
    assert pq.read_metadata(path).row_group(0).total_byte_size == 0
    with pytest.raises(InputError, match=r"limit uncompressed_bytes \(4,000,000\), got more"):
        read_parquet(path, limits=Limits(uncompressed_bytes=4_000_000))


def test_a_footer_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1" + (2**31 - 1).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match="must keep the limit of a Parquet file's metadata"):
        read_parquet(path)


def test_a_file_that_makes_arrow_abort(tmp_path: Path) -> None:
    """Found by fuzzing: asking Arrow for a column's metadata ends the process, reading does not."""
    assert "must be a readable Parquet file" in in_a_process(Path(__file__).with_name("aborts.parquet"))[1]


# Memory

SCRIPT = """
import resource, sys
from pathlib import Path
from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.files import read_csv
from anon_pipeline.sources.parquet import read_parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
path = Path(sys.argv[1])
try:
    read_parquet(path) if path.suffix == ".parquet" else read_csv(path, options=SourceOptions())
except InputError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


def in_a_process(path: Path) -> tuple[int, str]:
    """Return the kilobytes that reading took at its peak, and how it ended."""
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30)),
    )
    kilobytes, _, message = ended.stdout.partition(" ")
    return int(kilobytes), message


@pytest.mark.parametrize("quoted", [False, True])
def test_a_line_of_200_megabytes_in_bounded_memory(tmp_path: Path, quoted: bool) -> None:
    path = tmp_path / "data.csv"
    with path.open("wb") as file:
        file.write(b'a,b\n1,"' if quoted else b"a,b\n1,")
        for _ in range(200):
            file.write(b"x" * 2**20)
    kilobytes, message = in_a_process(path)
    assert "must keep the limit line_bytes" in message
    assert kilobytes < 30_000


def test_a_parquet_bomb_in_bounded_memory(tmp_path: Path) -> None:
    kilobytes, message = in_a_process(bomb(tmp_path / "data.parquet", 2_000_000, 100_000))
    assert "must keep the limit uncompressed_bytes" in message
    assert kilobytes < 200_000


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "lz4"])
def test_a_packed_file_is_not_unpacked(tmp_path: Path, encoding: str, ending: str) -> None:
    """Arrow unpacks a path by its ending; no limit would hold for what comes out. The child has 4 GiB."""
    path, codec = (
        tmp_path / f"bomb.csv.{ending}",
        {"bz2": "bz2", "zst": "zstd", "lz4": "lz4"}.get(ending, "gzip"),
    )
    with pa.CompressedOutputStream(str(path), codec) as out:
        out.write(b"a\n" + b"1\n" * 2**20)
    script = (
        "import sys; from pathlib import Path\n"
        "from anon_pipeline.base.errors import InputError\n"
        "from anon_pipeline.policy.files import Limits, SourceOptions\n"
        "from anon_pipeline.sources.files import read_csv\n"
        "try: frame = read_csv(Path(sys.argv[1]), options=SourceOptions(encoding=sys.argv[2]))\n"
        "except InputError: print(-1)\n"
        "else: print(len(frame))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(path), encoding],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 2**19


def test_texts_that_are_views_are_measured_like_others() -> None:
    texts = ["", "short", None, "ä" * 40, "x" * 100]
    for kind in (pa.string_view(), pa.binary_view()):
        column = pa.array([one if one is None else one.encode() for one in texts], pa.binary_view()).cast(
            kind
        )
        batch = pa.RecordBatch.from_arrays([column], ["a"])
        assert refuse_long_texts(Held("t", b""), batch, Limits(cell_bytes=100)) == 5 + 80 + 100 + 4 * 5
        assert refuse_long_texts(Held("t", b""), batch.slice(1, 2), Limits(cell_bytes=5)) == 5 + 4 * 2
        with pytest.raises(InputError, match=r"^t, column 1: must keep the limit cell_bytes \(99\)"):
            refuse_long_texts(Held("t", b""), batch, Limits(cell_bytes=99))
        assert refuse_long_texts(Held("t", b""), batch.slice(5), Limits()) == 0
