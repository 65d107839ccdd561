"""A column of identifiers is found by its match rate; one of other numbers, which match by chance, is not."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from anon_pipeline.catalog.detectors import DETECTORS, NAMES
from anon_pipeline.catalog.detectors.patterns import LEVEL, MOST_JUDGED, matches
from benchmarks.identifiers import OTHERS, TEMPLATES, found_among_others, recall, true_ones

ENOUGH = {"ssn": 150, "telephone": 40}
"""Values that a column needs; a check digit needs twelve, at most."""


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_each_kind_is_found(name: str) -> None:
    assert recall(name, ENOUGH.get(name, 12), repeats=2) == 1


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("email", "ip_", "iban"))])
def test_whatever_its_type_and_spelling(name: str) -> None:
    column = true_ones(name, ENOUGH.get(name, 20), rng(3))
    written = column.astype("str")
    for other in (written, written.astype("category"), written.astype("string"), written.astype(object)):
        assert name in matches(other)
    if pd.api.types.is_integer_dtype(column.dtype):
        for dtype in ("Int64", "int64[pyarrow]", object):
            assert name in matches(column.astype(dtype))
        if column.max() < 2**53:
            floats = pd.concat([column.astype("float64"), pd.Series([None], dtype="float64")])
            assert name in matches(floats)
            assert name in matches(floats.astype("str"))
    if name in TEMPLATES and not any(form.alone for d in DETECTORS if d.name == name for form in d.forms):
        split = written.str.replace(r"^(.{3})(.{3})", r"\1 \2-", regex=True)
        assert name in matches(split)
        assert name in matches("No. " + written)


@pytest.mark.parametrize("kind", OTHERS)
def test_columns_of_other_values_are_not(kind: str) -> None:
    assert matches(OTHERS[kind](2_500, rng(11))) == {}


def test_nor_are_several_draws_of_random_digits() -> None:
    some = {kind: OTHERS[kind] for kind in OTHERS if kind.startswith("random digits")}
    assert len(some) == 16
    assert [pair for pair in found_among_others(400, repeats=2, seed=1) if pair[0] in some] == []


def test_one_in_eleven_of_random_numbers_passes_and_is_no_finding() -> None:
    from stdnum.gb import nhs

    column = OTHERS["random digits, 10"](5_000, rng(2))
    assert 0.07 < column.map(nhs.is_valid).mean() < 0.11
    assert "nhs" not in matches(column)
    mixed = pd.concat([column[:700], true_ones("nhs", 300, rng(2)).astype("str")])
    assert matches(mixed)["nhs"] >= 300


@pytest.mark.parametrize("detector", DETECTORS, ids=NAMES)
def test_the_chance_of_random_values_is_as_stated(detector) -> None:
    """Of the digits that have the shape, at most the stated share is valid."""
    for form in detector.forms:
        if form.alone or detector.name in ("pan", "nino"):  # letters
            continue
        shape = form.shape.pattern
        n = 6_000
        lengths = [length for length in range(7, 19) if form.shape.fullmatch("4" * length)]
        for length in lengths or [0]:
            texts = OTHERS[f"random digits, {length}"](n, rng(4)) if length else true_like(shape, n)
            fitting = [text for text in texts if form.shape.fullmatch(text)]
            valid = sum(map(form.fits, fitting))
            assert fitting
            slack = 5 * math.sqrt(form.chance * (1 - form.chance) / len(fitting))
            assert valid / len(fitting) <= form.chance + slack, (detector.name, length)


def true_like(shape: str, n: int) -> list[str]:
    """Return random texts of a shape that is not of digits alone."""
    source, digits = rng(6), [str(d) for d in range(10)]
    letters = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    kinds = {
        r"\d{8}[A-Z]": "ddddddddL",
        r"[XYZ]\d{7}[A-Z]": "XdddddddL",
        r"\d{7}[A-W][A-IW]?": "dddddddL",
        r"\d{9}[A-Z]{2}\d": "dddddddddLLd",
        r"756\d{10}": "756dddddddddd",
        r"4\d{12}(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}": "4" + "d" * 15,
        r"[1-478]\d{4}(?:\d\d|2[AB])\d{8}": "1" + "d" * 14,
    }
    choose = {"d": digits, "L": letters}
    return ["".join(str(source.choice(choose.get(c, [c]))) for c in kinds[shape]) for _ in range(n)]


def test_how_many_values_a_rate_needs() -> None:
    """The closed form: all of n are valid and chance allows that with at most 1e-6."""
    nhs = next(form for d in DETECTORS if d.name == "nhs" for form in d.forms)
    fewest = next(n for n in range(1, 50) if binom.sf(n - 1, n, nhs.tolerated) <= LEVEL)
    assert fewest == math.ceil(math.log(LEVEL) / math.log(2 / 11)) == 9
    column = true_ones("nhs", 9, rng(5))
    assert matches(column) == {"nhs": 9}
    assert matches(column[:8]) == {}
    assert matches(pd.concat([column[:8]] * 1_000)) == {}  # different values count, not records


def test_records_are_counted_also_where_a_sample_is_judged() -> None:
    column = true_ones("nhs", MOST_JUDGED + 1_000, rng(7))
    assert matches(pd.concat([column, column[:10]]))["nhs"] == MOST_JUDGED + 1_010


def test_the_order_of_the_records_does_not_matter() -> None:
    mixed = pd.concat(
        [OTHERS["random digits, 10"](4_000, rng(8)), true_ones("nhs", 1_000, rng(8)).astype("str")]
    )
    found = [matches(mixed.sample(frac=1, random_state=seed)) for seed in range(4)]
    assert all(one == found[0] for one in found)


def test_numbers_that_lost_their_zeros_are_found() -> None:
    numbers = pd.Series([int(text) for text in true_ones("ssn", 400, rng(9)).astype("str")])
    assert numbers.astype("str").str.len().nunique() > 1
    assert matches(numbers)["ssn"] == 400
    assert matches(numbers.astype("str"))["ssn"] == 400


def test_ranges_show_their_ends() -> None:
    ends = true_ones("nhs", 40, rng(10)).astype("str").to_numpy()
    assert (
        matches(pd.Series([f"[{a}, {b}]" for a, b in zip(ends[::2], ends[1::2], strict=True)]))["nhs"] == 20
    )


def test_adult_has_no_identifier(shared_data: Path) -> None:
    adult = pd.read_csv(shared_data / "adult" / "adult.csv", sep=";", dtype="str")
    assert {name: matches(adult[name]) for name in adult} == {name: {} for name in adult}
    raw = pd.read_csv(shared_data / "adult" / "adult.data", header=None, skipinitialspace=True)
    assert {name: matches(raw[name]) for name in raw} == {name: {} for name in raw}


def test_iban_lengths_are_those_of_the_registry() -> None:
    from stdnum import numdb

    from anon_pipeline.catalog.detectors.table import IBAN_LENGTH

    database = numdb.get("iban")
    for country, length in IBAN_LENGTH.items():
        (_, info), *_ = database.info(country + "00")
        parts = [int(part) for part in re.findall(r"(\d+)!?[nace]", info.get("bban", ""))]
        assert not parts or sum(parts) + 4 == length, country
