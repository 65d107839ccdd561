"""Names of months: those of languages other than English become English ones, and nothing else changes."""

from __future__ import annotations

import calendar

import pandas as pd
import pytest

from anon_pipeline.base.month_names import in_english, names_months

FULL = {
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "Italian": "gennaio febbraio marzo aprile maggio giugno "
    "luglio agosto settembre ottobre novembre dicembre",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "Dutch": "januari februari maart april mei juni juli augustus september oktober november december",
}
"""As Unicode's CLDR has them."""
ABBREVIATED = {
    "German": "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "French": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "Italian": "gen feb mar apr mag giu lug ago set ott nov dic",
    "Spanish": "ene feb mar abr may jun jul ago sept oct nov dic",
    "Portuguese": "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
    "Dutch": "jan feb mrt apr mei jun jul aug sep okt nov dec",
}
"""Likewise."""


@pytest.mark.parametrize("language", FULL)
def test_all_names_of_a_language(language: str) -> None:
    names = pd.Series(FULL[language].split())
    assert in_english(names, "%B").tolist() == list(calendar.month_name)[1:]
    assert in_english(names.str.upper(), "%d %B").tolist() == list(calendar.month_name)[1:]
    short = pd.Series(ABBREVIATED[language].split())
    assert in_english(short, "%b").tolist() == list(calendar.month_abbr)[1:]


def test_english_names_stay() -> None:
    for form, names in (("%B", calendar.month_name), ("%b", calendar.month_abbr)):
        own = pd.Series(list(names)[1:])
        assert in_english(own, form).tolist() == own.tolist()


def test_what_is_no_name_stays() -> None:
    texts = pd.Series(["3. Marzipan", "Augur 1", None, "12 de"])
    assert in_english(texts, "%B").tolist()[:2] == ["3. Marzipan", "Augur 1"]
    assert in_english(texts, "%B").isna().tolist() == [False, False, True, False]


def test_a_point_stays_where_the_format_has_one() -> None:
    assert in_english(pd.Series(["3 déc. 2020"]), "%d %b. %Y").tolist() == ["3 Dec. 2020"]
    assert in_english(pd.Series(["3 déc. 2020"]), "%d %b %Y").tolist() == ["3 Dec 2020"]


def test_formats_without_a_name() -> None:
    texts = pd.Series(["mars"])
    assert in_english(texts, "%d.%m.%Y") is texts
    assert [names_months(form) for form in ("%d %b %Y", "%B", "%m")] == [True, True, False]
