"""Format, encoding, separator and header of files as they come; what is unclear is refused by place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.profile.layout import find_layout, read_table, refuse_header
from anon_pipeline.vault.crypto import Sealer, vault_key

CANARY = "CANARY-7f3a"


@pytest.mark.parametrize(
    ("data", "sep", "encoding", "guess"),
    [
        (b"a,b\n1,2\n3,4\n", ",", "utf-8", False),
        (b"a;b;c\n1,5;2;3\n1,7;2;4\n", ";", "utf-8", False),
        (b"a\tb\n1\t2\n", "\t", "utf-8", False),
        (b"a|b\n1|2\n", "|", "utf-8", False),
        (b"only\n1\n2\n", ",", "utf-8", False),
        (b'a,b\n"x;y;z","1;2;3"\n"p;q;r",2\n', ",", "utf-8", False),
        ("name;ort\nMüller;Zürich\n".encode("cp1252"), ";", "cp1252", True),
        (b"name;ort\nM\x81;Z\n", ";", "latin-1", True),
        ("name;ort\nMüller;Zürich\n".encode("utf-16"), ";", "utf-16", False),
        ("\ufeffname;ort\nMüller;Zürich\n".encode(), ";", "utf-8", False),
    ],
)
def test_separator_and_encoding(data: bytes, sep: str, encoding: str, guess: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    found = find_layout(path)
    assert (found.sep, found.encoding, found.guessed_encoding, found.is_text) == (sep, encoding, guess, True)
    assert len(read_table(path, found)) >= 1
    assert found.options.sep == sep


RECORDS = [[str(i), town, f"{i} kg"] for i, town in enumerate(["Bern", "Genf", "Bern", "Chur", "Bern"])]


@pytest.mark.parametrize(
    "title", ["Report\n\n", "Report;;\n;as of May;\n", 'A "practice\nin Bern 2026;;\n'], ids=len
)
def test_lines_before_the_names_are_counted(title: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(title + "".join(";".join(row) + "\n" for row in [["id", "town", "weight"], *RECORDS]))
    found = find_layout(path)
    assert (found.sep, found.fitting, found.skip_lines) == (";", 1.0, 2)
    assert [*read_table(path, found).columns] == ["id", "town", "weight"]
    assert found.written == {"sep": ";", "encoding": "utf-8", "skip_lines": 2}


REGISTERS = {
    "addresses with commas": ("patient;address", "P{i};c/o Anna, Street {i}, Berlin"),
    "lists of codes": ("sex;diagnoses", "f;J2{i}, K1{i}, I1{i}"),
    "decimal commas": ("patient;weight;height", "P{i};6{i},5 kg;15{i},2 cm"),
    "dates and commas": ("sex;birth;address", "f;{i} May 1940;Street {i}, Bern, CH"),
}


@pytest.mark.parametrize(("header", "record"), REGISTERS.values(), ids=REGISTERS)
def test_a_header_with_another_separator_is_no_title(header: str, record: str, tmp_path: Path) -> None:
    """The commas of such records part them into as many fields each, and the header is one field by them."""
    path = tmp_path / "x.csv"
    path.write_text("\n".join([header, *(record.format(i=i) for i in range(9))]) + "\n")
    found = find_layout(path)
    assert (found.sep, found.skip_lines) == (";", 0)
    assert [*read_table(path, found).columns] == header.split(";")


@pytest.mark.parametrize(
    "first", ["id,birth,weight,doctor", '"id;birth;weight;doctor"', "Report of May", "CANARY;;;"]
)
def test_records_are_not_taken_for_names(first: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    records = [f"P{i:05};{i} Mar 1940;6{i},5 kg;Dr. {'ABCDEFGHI'[i]} Meier" for i in range(9)]
    path.write_text("\n".join([first, *records]) + "\n")
    with pytest.raises(InputError) as refused:
        read_table(path, find_layout(path))
    assert "P0000" not in str(refused.value)
    rows = [(first.split(";") + [""] * 3)[:4], *(record.split(";") for record in records)]
    pd.DataFrame(rows).replace("", None).to_excel(
        tmp_path / "x.xlsx", header=False, index=False, engine="openpyxl"
    )
    assert find_layout(tmp_path / "x.xlsx").skip_lines == 0


def test_a_field_that_is_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a" * 200_000 + "\n1\n")
    with pytest.raises(InputError, match="must be a readable file"):
        find_layout(path)


def test_empty_lines_alone_are_no_title(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\n\n" + "".join(",".join(row) + "\n" for row in [["id", "town", "weight"], *RECORDS]))
    found = find_layout(path)
    assert found.skip_lines == 0
    assert len(read_table(path, found)) == len(RECORDS)


def test_rows_before_the_names_of_a_workbook_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    none = [None] * 3
    pd.DataFrame([["Report", *none[1:]], none, ["id", "town", "weight"], *RECORDS]).to_excel(
        path, header=False, index=False, engine="openpyxl"
    )
    found = find_layout(path)
    assert found.written == {"skip_lines": 2}
    assert [*read_table(path, found).columns] == ["id", "town", "weight"]


def test_a_parquet_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.data"
    pd.DataFrame({"a": [1, 2]}).to_parquet(path)
    found = find_layout(path)
    assert (found.format, found.is_text) == ("parquet", False)
    assert read_table(path, found)["a"].tolist() == [1, 2]


FRAME = pd.DataFrame({"a": ["007", "8"], "b": [1, 2]})


@pytest.mark.parametrize(
    ("form", "write"),
    [
        ("excel", lambda path: FRAME.to_excel(path, index=False, engine="openpyxl")),
        ("jsonl", lambda path: FRAME.to_json(path, orient="records", lines=True)),
        ("jsonl", lambda path: FRAME.to_json(path, orient="records", lines=True, compression="gzip")),
        ("parquet", lambda path: FRAME.to_parquet(path / "x.parquet", index=False)),
        ("csv", lambda path: FRAME.to_csv(path, index=False, sep=";", compression="gzip")),
        ("csv", lambda path: FRAME.to_csv(path, index=False, sep=";", compression="zip")),
    ],
)
def test_other_formats_are_known_by_what_is_in_them(
    form: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "x.xlsx"  # whatever the name says
    if form == "parquet":
        path.mkdir()
    write(path)
    found = find_layout(path)
    assert (found.format, found.is_text) == (form, form == "csv")
    assert found.sep == (";" if form == "csv" else ",")
    frame = read_table(path, found)
    assert frame["a"].tolist() == ["007", "8"]
    assert frame["b"].astype(int).tolist() == [1, 2]


def test_lines_of_other_lengths_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 8 + "1,2,3\n")
    assert find_layout(path).fitting == 0.9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got an empty file"),
        ("a,b\n", "must have records"),
        (f"{CANARY}@x.org,12\nb,2\n", "looks like a record"),
        (f"a,\n{CANARY},2\n", "places 2"),
        (f"age,Age\n{CANARY},2\n", "places 1 and 2"),
        (f"a,b\n{CANARY},2,3\n", "got 1 line with more or fewer"),
    ],
)
def test_what_cannot_be_a_table_is_refused_without_a_cell(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_table(path, find_layout(path))
    assert said in str(refused.value)
    assert CANARY not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is not there"):
        find_layout(tmp_path / "x.csv")


def test_plain_names_pass() -> None:
    refuse_header("x.csv", ["a", "Größe (cm)", "2nd name"])


def test_an_encrypted_file_has_the_layout_of_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, path = bytes(range(32)), tmp_path / "d1.1.parquet"
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", secret.hex())
    with path.open("wb") as file:
        sealer = Sealer(file, vault_key(secret), path.name)
        sealer.write(pd.DataFrame({"age": [41, 5], "town": ["a", "b"]}).to_parquet(index=False))
        sealer.finish()
    layout = find_layout(path)
    assert layout.format == "parquet" and len(read_table(path, layout)) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ["Erika,Cork,flu", "Bernd,Sligo,none", "Clara,Cork,flu", "Erika,Cork,none"],  # no header
        ["name,town,illness", "Bernd,Sligo,flu", "name,town,illness", "Clara,Cork,flu"],  # two files in one
    ],
)
def test_names_that_are_values_too_are_refused_without_one_of_them(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        InputError, match=r"^x\.csv: the first line must hold .*; many of its fields"
    ) as refused:
        read_table(path, find_layout(path))
    assert "Erika" not in str(refused.value) and "town" not in str(refused.value)


@pytest.mark.parametrize(
    "lines",
    [
        ["yes,town", "yes,Cork", "no,Sligo"],  # by chance
        ["tea,milk,town", "tea,,Cork", ",milk,Sligo", "tea,milk,Cork"],  # a survey with answers to tick
        ["asthma,gout,town,job,sex", "asthma,none,Cork,a,m", "none,gout,Sligo,b,f"],  # less than half of them
    ],
)
def test_columns_may_have_their_names_as_values(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    assert len(read_table(path, find_layout(path))) == len(lines) - 1
