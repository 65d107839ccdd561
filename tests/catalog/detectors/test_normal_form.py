"""One spelling for what readers take for the same."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.detectors.normal_form import UNEVEN, Characters, normalize


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ann＠mail.org", "ann@mail.org"),
        ("ann﹫mail．org", "ann@mail.org"),
        ("a\u200bnn@ma\u00adil.o\u2060rg\ufeff", "ann@mail.org"),
        ("ann(at)mail.org", "ann@mail.org"),
        ("ann [AT] mail [dot] org", "ann@mail.org"),
        ("ann at mail dot example dot org", "ann@mail.example.org"),
        ("ann&#64;mail.org", "ann@mail.org"),
        ("ann%40mail.org", "ann@mail.org"),
        ("０７８－０５－１１２０", "078-05-1120"),
        ("٠٧٨-٠٥-١١٢٠", "078-05-1120"),
        ("078–05—1120", "078-05-1120"),
        ("212\u00a0555\u20090100", "212 555 0100"),
        ("2\u03361\u03362", "212"),
        ("СН93 0076", "CH93 0076"),  # Cyrillic
        ("“ann lee”@mail.org", '"ann lee"@mail.org'),
        ("look at the dot", "look at the dot"),
        ("at home, 3 (a) and (b)", "at home, 3 (a) and (b)"),
        ("", ""),
    ],
)
def test_spellings(text: str, same: str) -> None:
    assert normalize(text) == same
    assert normalize(text, Characters()) == same


@given(st.text())
def test_once_is_enough(text: str) -> None:
    once = normalize(text)
    assert normalize(once).split() == normalize(normalize(once)).split()


@given(st.text(st.sampled_from("a1 .@([{<>)]}%40&#6;dotATat\t\n"), max_size=40))
def test_texts_that_are_not_looked_at_would_not_change(text: str) -> None:
    (uneven,) = pc.match_substring_regex(pa.array([text], pa.large_string()), UNEVEN).to_pylist()
    if not uneven:
        assert normalize(text).strip() == text.strip()


@pytest.mark.parametrize(
    "text", ["a", " ", "(", "[ ", " at ", "a at ", "dot ", "a dot ", "%4", "@", "a@b dot ", "é"]
)
def test_long_texts_take_linear_work(text: str) -> None:
    """A quadratic search would not end within the test run."""
    assert normalize(text * 300_000) is not None
