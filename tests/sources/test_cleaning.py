"""A table is cleaned column by column, in a fixed order; values that have a type are taken as they are."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.policy import Policy
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.sources.cleaning import clean_column, clean_frame, in_column

Small = Callable[..., Policy]


def clean(column: Any, kind: str | None = None, **how: Any) -> tuple[list[Any], list[str]]:
    own = frozenset([*(["type"] if kind else []), *how])
    cleaning = ColumnCleaning(COLUMN_TYPES[kind or "text"], own, **how)
    made, wrong = clean_column(pd.Series(column, name="x"), cleaning, how.get("values", {}))
    return made.astype(object).where(made.notna(), None).tolist(), [one.kind for one in wrong]


def test_without_the_section_a_table_is_the_same(
    small_policy: Small, small_people: Callable[..., Any]
) -> None:
    people = small_people()
    found = clean_frame(people, small_policy())
    assert digest_frame(found.frame) == digest_frame(people)
    pd.testing.assert_frame_equal(found.frame, people)


def test_the_order_of_the_steps() -> None:
    values = ["\u00a0zu\u0308rich\u2009", "ZH ", " n/a", "", "  ", None, "bern"]
    how: dict[str, Any] = {
        "unicode": "NFC",
        "strip": True,
        "missing": ("n/a",),
        "case": "upper",
        "values": {"ZH": "Zurich", "BERN": "Bern"},
        "truncate": 5,
    }
    assert clean(values, **how) == (["Z\u00dcRIC", "Zuric", None, None, None, None, "Bern"], [])


def test_missing_texts_stand_as_in_the_file_and_before_case() -> None:
    assert clean(["NA", "na"], missing=("NA",), case="lower")[0] == [None, "na"]


def test_what_is_replaced_by_a_missing_text_is_missing() -> None:
    how: dict[str, Any] = {"missing": ("unknown",), "values": {"31.02.1960": "unknown", "x": "y"}}
    assert clean(["31.02.1960", "x", None, "1"], **how)[0] == [None, "y", None, "1"]
    assert clean(["Unknown"], missing=("unknown",), case="lower", values={"x": "y"})[0] == ["unknown"]
    dated = clean(["31.02.1960", "28.02.1960"], "date", format=("%d.%m.%Y",), **how)
    assert dated == ([None, datetime.date(1960, 2, 28)], [])


def test_a_map_is_of_whole_values_and_leaves_the_others() -> None:
    assert clean(["a", "ab", "b", None], values={"a": "b", "b": "c"})[0] == ["b", "ab", "c", None]


@given(
    st.lists(st.none() | st.text(max_size=12), min_size=1),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    st.sampled_from([None, "lower", "upper"]),
)
def test_cleaning_a_clean_column_changes_nothing(
    texts: list[str | None], form: str, case: str | None
) -> None:
    how: dict[str, Any] = {"unicode": form, "strip": True}
    once = clean(texts, **how)[0]
    assert clean(once, **how)[0] == once
    cased = clean(texts, case=case)[0]
    assert clean(cased, case=case)[0] == cased


@given(
    st.text(st.characters(max_codepoint=0x24F), max_size=12), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])
)
def test_normal_forms_are_those_of_python(text: str, form: str) -> None:
    assert clean([text], unicode=form)[0] == [unicodedata.normalize(form, text)]  # type: ignore[arg-type]


def test_texts_become_values_of_their_type() -> None:
    assert clean(["1'234", None], "integer", thousands="'")[0] == [1234, None]
    assert clean(["1'234.5", None], "number", thousands="'")[0] == [1234.5, None]
    assert clean(["31.12.2020", None], "date", format=("%d.%m.%Y",))[0] == [datetime.date(2020, 12, 31), None]
    assert clean(["ja", "nein"], "boolean", values={"ja": "true", "nein": "false"})[0] == [True, False]


def test_in_place_of_a_wrong_cell_is_another_one() -> None:
    assert clean(["5", "CANARY", None], "number") == ([5, 5, None], ["without a digit"])
    assert clean(["CANARY"], "number") == ([None], ["without a digit"])


@pytest.mark.parametrize(
    ("values", "kind", "how", "made", "kinds"),
    [
        ([1, 2], None, {}, [1, 2], []),
        ([1, 2], "text", {}, ["1", "2"], []),
        ([1, 2], "text", {"values": {"1": "a"}}, ["a", "2"], []),
        ([1.0, 2.0, np.nan], "integer", {}, [1, 2, None], []),
        ([1.5, 2.0], "integer", {}, [2, 2], ["of another type"]),
        ([1, -999], "number", {"missing": ("-999",)}, [1, None], []),
        ([True, False], "boolean", {}, [True, False], []),
        ([True], "number", {}, [True], ["of another type"]),
        ([pd.Timestamp("2020-01-02 03:04")], "date", {}, [datetime.date(2020, 1, 2)], []),
        ([1, 2], None, {"case": "upper"}, [1, 2], ["of a type to which case cannot be applied"]),
        ([Decimal("1.5")], "number", {}, [Decimal("1.5")], []),
    ],
)
def test_values_that_have_a_type(
    values: list[Any], kind: str | None, how: dict[str, Any], made: list[Any], kinds: list[str]
) -> None:
    found, wrong = clean(values, kind, **how)
    assert wrong == kinds
    assert found == made


def test_long_integers_beside_missing_ones_are_exact() -> None:
    assert clean(["900719925474099301", None], "integer")[0] == [900719925474099301, None]


def test_all_columns_are_cleaned_and_all_mistakes_listed(small_policy: Small, tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("from,to\na,alpha\n")
    frame = pd.DataFrame(
        {"note": ["a ", "b"], "height": ["1'70", "1.80"], "income": ["x", "5"], "more": ["q", " "]}
    )
    policy = small_policy(clean={"strip": True, "columns": {"note": {"values_file": "map.csv"}}})
    found = clean_frame(frame, policy, folder=tmp_path)
    assert found.frame["note"].tolist() == ["alpha", "b"]
    assert found.frame["more"].tolist() == ["q", " "]  # undeclared: somebody else refuses it
    assert [(one.column, one.kind, one.rows.tolist()) for one in found.mistakes] == [
        ("height", "with something else", [True, False]),
        ("income", "without a digit", [True, False]),
    ]


def test_an_insensitive_number_of_a_csv_can_be_published_as_a_number(small_policy: Small) -> None:
    frame = pd.DataFrame({"note": pd.Series(["1", "2", None], dtype="str")})
    auto = clean_frame(frame, small_policy(clean={"type": "auto"})).frame["note"]
    assert auto.tolist() == [1, 2, None]
    assert clean_frame(frame, small_policy(clean={})).frame["note"].dtype == "str"


def test_a_name_that_yaml_would_read_differently_is_quoted() -> None:
    assert in_column("a: b", "Write type: date.") == 'In clean.columns."a: b": write type: date.'
