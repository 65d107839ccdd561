"""Spellings of one word are one; different words stay different."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.word_forms import plain_word

_WORDS = st.text(st.characters(whitelist_categories=("Ll", "Lu", "Nd")), min_size=1, max_size=12)


@pytest.mark.parametrize(
    "spellings",
    [
        ("Asthma", "asthma", " ASTHMA ", "asthma.", "asthmá", "Asthma\u200b", "(asthma)", '"asthma"'),
        ("type-1 diabetes", "Type 1 Diabetes", "type\u20131  diabetes", "type_1_diabetes"),
        ("Straße", "STRASSE", "strasse"),
        ("grippe", "GRIPPÉ", "Grippe,", unicodedata.normalize("NFD", "grippé")),
        ("A\u00a0B", "a b", "a/b"),
        ("E11.9", "e11,9", "E119", " E11 9"),
    ],
)
def test_spellings_of_one_word_are_one(spellings: tuple[str, ...]) -> None:
    assert len({plain_word(one) for one in spellings}) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("A", "B", "A+", "A-", "A1"),
        ("<5", ">5", "5", "-5", "1.5", "15", "1,5"),
        ("HIV", "HIV+", "HIV -"),
        ("*", "?", "", "-"),
        ("ขาว", "ข้าว"),
        ("कि", "के"),
        ("flu", "fluid", "flu shot"),
        ("B1.5", "B15", "E11", "E11.9", "E11.90"),
    ],
)
def test_different_words_stay_different(words: tuple[str, ...]) -> None:
    assert len({plain_word(one) for one in words}) == len(words)


@given(_WORDS)
def test_case_blanks_and_a_full_stop_never_count(word: str) -> None:
    folded = plain_word(word)
    assert plain_word(f"  {word}. ") == folded
    assert plain_word(folded) == folded
