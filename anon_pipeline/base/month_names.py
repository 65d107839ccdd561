"""Names of months in six languages, as they stand in dates; pandas reads the English ones alone.

Upper and lower case, accents and the point of an abbreviation make no difference. No name means two months.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

_NAMES = """
january januar janner janvier enero gennaio janeiro januari
february februar fevrier febrero febbraio fevereiro februari
march marz maerz mars marzo marco maart
april avril abril aprile
may mai mayo maggio maio mei
june juni juin junio giugno junho
july juli juillet julio luglio julho
august aout agosto augustus
september septembre septiembre setiembre settembre setembro
october oktober octobre octubre ottobre outubro
november novembre noviembre novembro
december dezember decembre diciembre dicembre dezembro
"""
_SHORT = """
jan jan janv ene gen
feb febr fev fevr
mar mrz marz maerz mars mrt
apr avr abr april
may mai mag mei
jun juni juin giu june
jul juli juil lug july
aug aou aout ago
sep sept set sett
oct okt ott out
nov
dec dez dic
"""
_ACCENTS = {"a": "aàáâãä", "c": "cç", "e": "eèéê", "o": "oóô", "u": "uùúûü"}
_OTHER_WORDS = {"ago", "gen", "mag", "out", "set"}
_WORD = re.compile(r"[^\W\d_]{3,}")
_SHORT_WORD = re.compile(r"[^\W\d_]{3,}\.?")


def _by_name(table: str, english: str) -> dict[str, str]:
    months = zip(english.split(), table.strip().splitlines(), strict=True)
    return {name: month for month, names in months for name in names.split()}


_ENGLISH = "January February March April May June July August September October November December"
_FULL = _by_name(_NAMES, _ENGLISH)
_ABBREVIATED = _by_name(_SHORT, " ".join(month[:3] for month in _ENGLISH.split()))


def _pattern(names: Iterable[str]) -> str:
    """Return the regular expression of some names, with and without accents."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    return "|".join("".join(f"[{_ACCENTS.get(char, char)}]" for char in name) for name in longest)


NAME_PATTERN = _pattern(_FULL)
"""Regular expression of the full names, for `re.IGNORECASE`."""
CLEAR_PATTERN = _pattern(({*_FULL} | {*_ABBREVIATED}) - _OTHER_WORDS)
"""That of all names that stand for a month wherever a year follows."""
ANY_PATTERN = _pattern({*_FULL} | {*_ABBREVIATED})
"""That of all names, some of which are other words, too: ``out 2019``."""


def names_months(form: str) -> bool:
    """Tell whether a date format, as of `datetime.strptime`, has the name of a month."""
    return "%B" in form or "%b" in form


def in_english(texts: pd.Series, form: str) -> pd.Series:
    """Replace the names of months in dates by English ones, full or abbreviated as a format has them.

    Args:
        texts: (n,) texts; missing stays missing.
        form: as of `datetime.strptime`; without a month's name the texts stay as they are.

    >>> in_english(pd.Series(["3. März 1961", "1 août 2020", "1 augur 2020"]), "%d %B %Y").tolist()
    ['3. March 1961', '1 August 2020', '1 augur 2020']
    """
    if not names_months(form):
        return texts
    names, word = (_FULL, _WORD) if "%B" in form else (_ABBREVIATED, _WORD if "%b." in form else _SHORT_WORD)

    def english(found: re.Match[str]) -> str:
        return names.get(_bare(found[0]), found[0])

    different = texts.dropna().unique()
    return texts.map({text: word.sub(english, unicodedata.normalize("NFC", text)) for text in different})


def _bare(name: str) -> str:
    """Return a name in small letters, without accents and point."""
    letters = unicodedata.normalize("NFD", name.rstrip(".").casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
