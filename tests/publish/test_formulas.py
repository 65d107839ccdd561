"""A CSV that no spreadsheet runs, and that says the same."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.file_formats import from_bytes, read_release, to_bytes
from anon_pipeline.publish.formulas import neutralize
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means

MARKS = "=+-@\t\r\n＝＋－＠"
TEXT = st.text(st.sampled_from("='+-@\t\r\na1＝ "), max_size=4)


def released(policy: Policy, frame: pd.DataFrame, folder: Path) -> Published:
    made = pipeline.run(policy, frame, Means(folder, None, system_entropy()))
    return publish(made.suppressed, made.k_anonymized.frame, policy, locations=Locations.of(folder, {}))


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark(mark: str) -> None:
    table = neutralize(pa.table({"a": [f"{mark}x", f"'{mark}x", f"x{mark}", "'x", "", None]}))
    assert table["a"].to_pylist() == [f"'{mark}x", f"''{mark}x", f"x{mark}", "'x", "", None]


def test_numbers_are_not_touched() -> None:
    frame = pd.DataFrame(
        {"n": [-5, 3], "f": [-0.5, None], "t": ["-5", "5"], "d": pd.to_datetime(["2020", None])}
    )
    assert to_bytes(frame, "csv", formulas="neutralize").decode().splitlines()[1:] == [
        '-5,-0.5,"\'-5",2020-01-01 00:00:00.000000',
        '3,,"5",',
    ]
    assert '"-5"' in to_bytes(frame, "csv").decode()
    assert to_bytes(frame, "parquet", formulas="neutralize") == to_bytes(frame, "parquet")


def test_names_of_columns_and_categories() -> None:
    frame = pd.DataFrame({"=a": ["x"], "b": pd.Categorical(["@y"])})
    data = to_bytes(frame, "csv", formulas="neutralize")
    assert rows(data) == [["'=a", "b"], ["x", "'@y"]]
    back = from_bytes(data, "csv", like=frame.astype({"b": "str"}), formulas="neutralize")
    assert (list(back.columns), back["b"].tolist()) == (["=a", "b"], ["@y"])


@given(values=st.lists(st.none() | TEXT, min_size=1, max_size=8), name=TEXT)
def test_nothing_runs_and_nothing_changes(values: list[str | None], name: str) -> None:
    frame = pd.DataFrame({name: pd.Series(values, dtype="str"), "n": range(len(values))})
    data = to_bytes(frame, "csv", formulas="neutralize")
    for row in rows(data):
        assert not row[0].startswith(tuple(MARKS))
    back = from_bytes(data, "csv", like=frame, formulas="neutralize")
    assert digest_frame(back) == digest_frame(frame)


def hostile(people: pd.DataFrame) -> pd.DataFrame:
    """Return people with formulas in every text, equal for equal texts."""
    return people.assign(
        city=people["city"].map({"Cork": "=cmd|' /C calc'!A0", "Dublin": "@home", "Galway": "'=x"}),
        illness="+" + people["illness"],
        note=people["note"].map({"a": "-5", "b": "\tb"}),
    )


@pytest.mark.parametrize("formulas", ["neutralize", "keep"])
def test_a_release_of_formulas(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    formulas: str,
) -> None:
    change = {"publish": {"format": "csv", "formulas": formulas}, "anonymize": {"suppression_limit": 0.5}}
    policy = small_policy(**change, gate={"suppression": 0.9, "l_diversity": {"illness": {"l": 2}}})
    written = released(policy, hostile(small_people(2000)), tmp_path)
    header, *records = rows(written.path.read_bytes())
    texts = [header.index(name) for name in ("age", "city", "illness", "note")]
    runs = sum(record[place].startswith(tuple(MARKS)) for record in records for place in texts)
    assert (runs == 0) == (formulas == "neutralize")
    classes = Counter((record[texts[0]], record[texts[1]]) for record in records)
    assert min(classes.values()) >= policy.gate_k  # k in the file as any reader sees it
    back = read_release(written.path, policy)
    assert digest_frame(back) == written.manifest["data_digest"]
    report = evaluate(back, policy)
    assert not report.with_status(Status.REFUSED)
    assert written.report.passed


def test_generalized_labels_below_zero(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    people = small_people(2000)
    people["age"] = np.where(people["age"] < 50, -5, -15)
    policy = small_policy(publish={"format": "csv"})
    written = released(policy, people, tmp_path)
    header, *records = rows(written.path.read_bytes())
    assert {record[header.index("age")] for record in records} == {"'-5", "'-15"}
    assert set(read_release(written.path, policy)["age"]) == {"-5", "-15"}


def test_a_file_that_was_not_neutralized(small_policy: Callable[..., Policy], tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text('age,city,height,income,illness,note\n"a","=b",-1,-2,"x",-3.5\n"a","b",1,2,"+x","-x"\n')
    with pytest.raises(InputError) as caught:
        read_release(path, small_policy())
    assert str(caught.value).endswith("got 1 in column 2, 1 in column 5, 1 in column 6")
    kept = read_release(path, small_policy(publish={"formulas": "keep"}))
    assert kept["city"].tolist() == ["=b", "b"]
