"""Columns of everyday values, and identifiers planted in columns: false refusals and detections.

Run as ``python -m benchmarks.lookalikes``: prints two tables, of which docs/identifiers.md says the outcome.
Belongs here: generated columns that hold no identifier though they look like it, and identifiers as people
write them. Does not belong here: the detectors; whole columns of each kind (`identifiers`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from anon_pipeline.catalog.detectors.patterns import matches
from benchmarks.identifiers import true_ones

Random = np.random.Generator
Make = Callable[[int, Random], Sequence[object]]
VALUES = 500

_NOUNS, _VERBS, _WORDS = (
    text.split()
    for text in (
        "patient doctor nurse ward clinic visit result sample dose record form letter room bed test scan "
        "drug note week month team plan report question answer line point mark centre",
        "sees takes gives reads keeps leaves finds shows needs uses checks moves signs writes",
        "slowly again today early late often once twice well here there soon later still",
    )
)
_PLAIN = (
    "telephone ssn payment_card ahv nhs nino nir dni aadhaar pan steuer_id bsn pesel personnummer "
    "fodselsnummer cnp cpf sin tfn resident_id_cn thai_id"
)
_TURNS = (
    "the dot product of {n} and {m} is zero",
    "looked at the dot on the {n}",
    "the {n} arrived at noon, dot matrix print enclosed",
    "at each dot there is a {n}",
    "stare at one dot in the middle of the {n}",
    "a mark at every dot is seen by the {n}",
    "points at a dot at the end of the {n}",
    "meet @ the {n} at 5.30",
    "paid 3 @ 4.50 for the {n}",
    "see section 4.2.1.3 of the {m}, page 12",
    "call back on 05.11.2024 at 10:30 about the {n}",
    "between 01.02.2020 and 03.04.2021 the {n} {v} {w}",
    "the {n} was 12 500 000 in 2023, 13 250 000 in 2024",
    "dose 0.25 mg, then 1.50 mg from 2024-05-06 08:00",
    "the ratio is 120/80, later 135/85, then 118/76",
    "it was no12 that {v} the {n}",
)


def sentences(records: int, rng: Random) -> list[str]:
    """Make English sentences, some with turns of phrase that look like an address or a number."""
    made = []
    for _ in range(records):
        n, m = rng.choice(_NOUNS, 2)
        v, w = rng.choice(_VERBS), rng.choice(_WORDS)
        turn = str(rng.choice(_TURNS)).format(n=n, m=m, v=v, w=w)
        made.append(f"The {n} {v} the {m} {w}, {turn}." if rng.random() < 0.5 else f"The {n} {v} {w} at {m}.")
    return made


def _texts(template: str) -> Make:
    """Fill a template: ``#`` a digit, ``+`` a digit but 0, ``@`` a letter."""
    digits, letters = list("0123456789"), list("ABCDEFGHJKLMNPRSTUVWXYZ")
    kinds = {"#": digits, "+": digits[1:], "@": letters}

    def make(records: int, rng: Random) -> list[str]:
        return [
            "".join(str(rng.choice(kinds[char])) if char in kinds else char for char in template)
            for _ in range(records)
        ]

    return make


def _ints(low: int, high: int) -> Make:
    return lambda n, rng: rng.integers(low, high, n).tolist()


def _money(form: Callable[[float], str]) -> Make:
    return lambda n, rng: [form(value) for value in rng.lognormal(14, 3, n)]


def _stamps(form: str) -> Make:
    return lambda n, rng: (
        pd.to_datetime(rng.integers(0, 17 * 10**8, n), unit="s").strftime(form).to_numpy().tolist()
    )


def _grouped(sep: str, decimal: str = "") -> Callable[[float], str]:
    def form(value: float) -> str:
        whole, cents = f"{value:,.2f}".split(".")
        return whole.replace(",", sep) + (decimal + cents if decimal else "")

    return form


def _signed(decimals: int, limit: float) -> Make:
    return lambda n, rng: [f"{value:+.{decimals}f}" for value in rng.uniform(-limit, limit, n)]


def _isbn10(form: str) -> Make:
    def make(records: int, rng: Random) -> list[str]:
        made = []
        for row in rng.integers(0, 10, (records, 9)):
            check = -sum(int(d) * (10 - i) for i, d in enumerate(row)) % 11
            text = "".join(map(str, row)) + ("X" if check == 10 else str(check))
            made.append(form.format(text[0], text[1:4], text[4:9], text[9]))
        return made

    return make


def _isbn13(records: int, rng: Random) -> list[str]:
    made = []
    for row in rng.integers(0, 10, (records, 9)):
        digits = [9, 7, 8, *map(int, row)]
        check = -sum(d * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10
        text = "".join(map(str, [*digits, check]))
        made.append(f"{text[:3]}-{text[3]}-{text[4:8]}-{text[8:12]}-{text[12]}")
    return made


INNOCENT: Mapping[str, Make] = {
    "amounts, nine digits": _ints(10**8, 9 * 10**8),
    "amounts, nine digits, skewed": lambda n, r: (r.lognormal(19.5, 0.6, n)).astype(np.int64).tolist(),
    "amounts, eight and nine digits, skewed": lambda n, r: (
        np.minimum(r.lognormal(19.0, 0.7, n), 8.9e8).astype(np.int64).tolist()
    ),
    "amounts, nine digits, as texts": lambda n, r: [str(x) for x in r.integers(10**8, 9 * 10**8, n)],
    "amounts, ten digits": _ints(2 * 10**9, 99 * 10**8),
    "amounts with cents": lambda n, r: np.round(r.lognormal(9, 2, n), 2).tolist(),
    "amounts, 1,234,567.89": _money(_grouped(",", ".")),
    "amounts, 1.234.567,89": _money(_grouped(".", ",")),
    "amounts, 1 234 567": _money(_grouped(" ")),
    "amounts, 1'234'567.80": _money(_grouped("'", ".")),
    "amounts, 123 456 789": lambda n, r: [_grouped(" ")(x) for x in r.integers(10**8, 9 * 10**8, n)],
    "amounts with a sign, +1 234 567,89": _money(lambda x: "+" + _grouped(" ", ",")(x)),
    "amounts with a currency": _money(lambda x: f"EUR {x:,.2f}"),
    "years": _ints(1900, 2030),
    "counts": _ints(0, 5_000),
    "percentages": lambda n, r: [f"{x:.1f} %" for x in r.uniform(0, 100, n)],
    "ICD codes": _texts("@##.#"),
    "ATC codes": _texts("@##@@##"),
    "LOINC codes": _texts("+####-#"),
    "drug codes (NDC)": lambda n, r: [
        f"{int(a):05}-{b:04}-{c:02}"
        for a, b, c in zip(
            np.where(r.random(n) < 0.4, r.integers(2, 999, n), r.integers(10_000, 80_000, n)),
            r.integers(0, 9_999, n),
            r.integers(0, 99, n),
            strict=True,
        )
    ],
    "ZIP codes": _texts("#####"),
    "ZIP+4": _texts("#####-####"),
    "ZIP+4 of one town": _texts("021##-####"),
    "postcodes, British": _texts("@@# #@@"),
    "postcodes, Brazilian": _texts("#####-###"),
    "latitude, six decimals": _signed(6, 90),
    "longitude, eight decimals": _signed(8, 180),
    "latitude, north of the equator": lambda n, r: [f"+{x:.6f}" for x in r.uniform(35, 70, n)],
    "longitude, fourteen decimals": _signed(14, 180),
    "coordinates in pairs": lambda n, r: [f"{a:.5f}, {b:.5f}" for a, b in r.uniform(-80, 80, (n, 2))],
    "ISBN-10": _isbn10("{}{}{}{}"),
    "ISBN-10 with hyphens": _isbn10("{}-{}-{}-{}"),
    "ISBN-13 with hyphens": _isbn13,
    "ISSN": _texts("####-####"),
    "dates, 2024-05-06": _stamps("%Y-%m-%d"),
    "dates, 06.05.2024": _stamps("%d.%m.%Y"),
    "dates, 06/05/24": _stamps("%d/%m/%y"),
    "dates, 06 05 2024": _stamps("%d %m %Y"),
    "times": _stamps("%H:%M:%S"),
    "dates and times": _stamps("%d.%m.%Y %H:%M:%S"),
    "dates and times, 06.05.2024 1230": _stamps("%d.%m.%Y %H%M"),
    "dates and times, digits": _stamps("%Y%m%d%H%M%S"),
    "spans of dates": lambda n, r: [
        f"{a} - {b}" for a, b in zip(_stamps("%d.%m.%Y")(n, r), _stamps("%d.%m.%Y")(n, r), strict=True)
    ],
    "versions, three parts": _texts("#.##.#"),
    "versions, four parts": lambda n, r: [".".join(map(str, x)) for x in r.integers(0, 10, (n, 4))],
    "versions, parts to 40": lambda n, r: [
        f"{a}.{b}.{c}.{d}" for a, b, c, d in np.column_stack([r.integers(0, 6, n), r.integers(0, 40, (n, 3))])
    ],
    "versions of browsers": lambda n, r: [
        f"{a}.0.{b}.{c}"
        for a, b, c in zip(*(r.integers(*s, n) for s in ((90, 130), (4000, 6500), (0, 250))), strict=True)
    ],
    "part numbers, 1234-567-890": _texts("####-###-###"),
    "part numbers, 123-456-7890": _texts("###-###-####"),
    "part numbers, AB-1234-567": _texts("@@-####-###"),
    "part numbers, 756.1234.5678.90": _texts("756.####.####.##"),
    "part numbers, 123456-789A": _texts("######-###@"),
    "article numbers with points": _texts("###.###.##"),
    "chemical substances (CAS)": _texts("+####-##-#"),
    **{f"order numbers, {n} digits": _texts("+" + "#" * (n - 1)) for n in range(6, 15)},
    "numbers filled with zeros, 10": lambda n, r: [f"{x:010}" for x in r.integers(0, 10**9, n)],
    "blood pressure": lambda n, r: [f"{a}/{b}" for a, b in r.integers(60, 180, (n, 2))],
    "measurements with units": lambda n, r: [f"{x:.2f} mg/l" for x in r.lognormal(2, 1, n)],
    "hexadecimal digests": lambda n, r: [r.bytes(8).hex() for _ in range(n)],
    "MAC-like codes": _texts("##:##:##:##:##:##"),
    "addresses of pages": lambda n, r: [
        f"https://example.org/{a}/{b}" for a, b in r.integers(0, 10**6, (n, 2))
    ],
    "names on networks": lambda n, r: [
        f"thanks @{w}.{v}" for w, v in zip(r.choice(_NOUNS, n), r.choice(_WORDS, n), strict=True)
    ],
    "sentences": sentences,
}
"""Columns without an identifier, by what they hold."""


def _kind(name: str) -> Make:
    return lambda n, rng: [str(value) for value in true_ones(name, n, rng)]


IDENTIFYING: Mapping[str, tuple[str, Make]] = {
    "044 668 18 00": ("telephone", _texts("044 +## ## ##")),
    "(212) 555-0147": ("telephone", _texts("(212) 5##-####")),
    "212-555-0147": ("telephone", _texts("212-5##-####")),
    "020 7946 0958": ("telephone", _texts("020 7### ####")),
    "(020) 7946 0958": ("telephone", _texts("(020) 7### ####")),
    "01632 960123": ("telephone", _texts("01632 9#####")),
    "07700 900 123": ("telephone", _texts("07700 9## ###")),
    "06 12 34 56 78": ("telephone", _texts("06 ## ## ## ##")),
    "06.12.34.56.78": ("telephone", _texts("06.##.##.##.##")),
    "0171/1234567": ("telephone", _texts("0171/+######")),
    "0171 1234567": ("telephone", _texts("0171 +######")),
    "030-1234567": ("telephone", _texts("030-+######")),
    "06-12345678": ("telephone", _texts("06-+#######")),
    "03-1234-5678": ("telephone", _texts("03-####-####")),
    "0491 570 156": ("telephone", _texts("0491 ### ###")),
    "+353 1 555 0123": ("telephone", _texts("＋353 1 5## ####")),
    "Tel. 612 34 56 78": ("telephone", _texts("Tel. 6## ## ## ##")),
    "ann@mail.example.org": (
        "email",
        lambda n, r: [f"a{x}@mail.example.org" for x in r.integers(0, 10**9, n)],
    ),
    "ann at mail dot org": ("email", lambda n, r: [f"a{x} at mail dot org" for x in r.integers(0, 10**9, n)]),
    "ann (at) mail.org": ("email", lambda n, r: [f"a{x} (at) mail.org" for x in r.integers(0, 10**9, n)]),
    "078-05-1120": ("ssn", _texts("1##-+#-###+")),
    "IBAN": ("iban", _kind("iban")),
    "IP address": ("ip_address", _texts("203.1#.+#.1##")),
    "AHV with points": (
        "ahv",
        lambda n, r: [f"{x[:3]}.{x[3:7]}.{x[7:11]}.{x[11:]}" for x in map(str, _kind("ahv")(n, r))],
    ),
    "hetu": ("hetu", _kind("hetu")),
    "codice_fiscale": ("codice_fiscale", _kind("codice_fiscale")),
    "curp": ("curp", _kind("curp")),
    **{name: (name, _kind(name)) for name in _PLAIN.split()},
}
"""How an identifier is written (or the name of its detector, for plain ones), its detector, what makes it."""

PLANTED = {"all": 1.0, "10 %": 0.1, "one": 0.0}
"""Share of a column's records that hold the identifier, the others are sentences; 0 is one record."""


def refused(kind: str, seed: int, records: int = VALUES) -> list[str]:
    """Return the detectors that find a column of one innocent kind."""
    values = INNOCENT[kind](records, np.random.default_rng((seed, 7)))
    return list(matches(pd.Series(values)))


def planted(kind: str, where: str, seed: int, records: int = VALUES) -> pd.Series:
    """Make a column of sentences in which an identifier stands: alone in its cell, the one in a sentence."""
    rng = np.random.default_rng((seed, 11))
    share = PLANTED[where]
    made = IDENTIFYING[kind][1](max(1, int(records * share)), rng)
    if share == 1:
        return pd.Series(made)
    texts = sentences(records - len(made), rng)
    return pd.Series([*texts, *(made if share else [f"Please write to {made[0]} about the result"])])


def detected(kind: str, where: str, seed: int, records: int = VALUES) -> bool:
    """Tell whether the detector of a kind finds a column in which it is planted."""
    return IDENTIFYING[kind][0] in matches(planted(kind, where, seed, records))


def main(arguments: list[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args(arguments).seeds)
    print(f"| column of {VALUES} values | refused | as |\n|---|--:|---|")
    for kind in INNOCENT:
        found = [refused(kind, seed) for seed in seeds]
        names = ", ".join(f"`{name}`" for name in sorted({name for names in found for name in names}))
        print(f"| {kind} | {np.mean([bool(names) for names in found]):.0%} | {names or '–'} |")
    print(f"\n| identifier | {' | '.join(PLANTED)} |\n|---|" + "--:|" * len(PLANTED))
    for kind in IDENTIFYING:
        shares = (np.mean([detected(kind, where, seed) for seed in seeds]) for where in PLANTED)
        print(f"| `{kind}` | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
