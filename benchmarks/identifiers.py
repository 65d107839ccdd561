"""How often each detector of identifiers finds a column of true ones, and one of other values.

Run as ``python -m benchmarks.identifiers``: prints the table of docs/identifiers.md. Belongs here: generated
identifiers (each check digit found by trying all) and other columns. Does not belong here: the detectors.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import re
import string
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

import numpy as np
import pandas as pd

from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.patterns import matches

_LETTERS = string.ascii_uppercase
_TRIED = {
    "#": string.digits,
    "@": _LETTERS,
    "&": string.digits + _LETTERS,
    "%": string.digits + "K",
    "$": "0123456789X",
}
TEMPLATES: Mapping[str, tuple[str, str]] = {
    "payment_card": ("luhn", "4nnnnnnnnnnnnnn#"),
    "ahv": ("ch.ssn", "756nnnnnnnnn#"),
    "nhs": ("gb.nhs", "4nnnnnnnn#"),
    "nir": ("fr.nir", "{1|2}{yy}{mm}{dept}nnnnnn##"),
    "dni": ("es.dni", "nnnnnnnn@"),
    "nie": ("es.nie", "{X|Y|Z}nnnnnnn@"),
    "aadhaar": ("in_.aadhaar", "{2|3|5|9}nnnnnnnnnn#"),
    "pan": ("in_.pan", "lllPlnnnnl"),
    "steuer_id": ("de.idnr", "{distinct}#"),
    "codice_fiscale": ("it.codicefiscale", "llllll{yy}{A|B|C|D|E|H|L|M|P|R|S|T}{dd}{A|F|H}nnn@"),
    "bsn": ("nl.bsn", "nnnnnnnn#"),
    "rijksregister": ("be.nn", "{yy}{mm}{dd}nnn##"),
    "vsnr": ("at.vnr", "{1|2|5|9}nn#{dd}{mm}{yy}"),
    "pesel": ("pl.pesel", "{yy}{mm}{dd}nnnn#"),
    "personnummer": ("se.personnummer", "{yy}{mm}{dd}nnn#"),
    "fodselsnummer": ("no.fodselsnummer", "{dd}{mm}{yy}nnn##"),
    "hetu": ("fi.hetu", "{dd}{mm}{yy}-nnn&"),
    "isikukood": ("ee.ik", "{3|4}{yy}{mm}{dd}nnn#"),
    "rodne_cislo": ("cz.rc", "{yy}{mm}{dd}nnn#"),
    "amka": ("gr.amka", "{dd}{mm}{yy}nnnn#"),
    "oib": ("hr.oib", "nnnnnnnnnn#"),
    "pps": ("ie.pps", "nnnnnnn@"),
    "cartao_cidadao": ("pt.cc", "nnnnnnnn#ll#"),
    "nif": ("pt.nif", "{1|2}nnnnnnn#"),
    "cnp": ("ro.cnp", "{1|2}{yy}{mm}{dd}{county}nnn#"),
    "egn": ("bg.egn", "{yy}{mm}{dd}nnn#"),
    "emso": ("si.emso", "{dd}{mm}9{yy}50nnn#"),
    "rntrc": ("ua.rntrc", "nnnnnnnnn#"),
    "tckimlik": ("tr.tckimlik", "{1|2|5|9}nnnnnnnn##"),
    "teudat_zehut": ("il.idnr", "nnnnnnnn#"),
    "za_id": ("za.idnr", "{yy}{mm}{dd}nnnn08#"),
    "sin": ("ca.sin", "{1|4|5|7}nnnnnnn#"),
    "curp": ("mx.curp", "BOXW{yy}{mm}{dd}{H|M}NERXN0#"),
    "cpf": ("br.cpf", "nnnnnnnnn##"),
    "run": ("cl.rut", "1nnnnnnn%"),
    "cedula_do": ("do.cedula", "{001|031|402}nnnnnnn#"),
    "cedula_ec": ("ec.ci", "{county}{0|1|2}nnnnnn#"),
    "tfn": ("au.tfn", "nnnnnnnn#"),
    "my_number": ("jp.in_", "nnnnnnnnnnn#"),
    "resident_id_cn": ("cn.ric", "11010119{yy}{mm}{dd}nnn$"),
    "resident_id_kr": ("kr.rrn", "{yy}{mm}{dd}{1|2}{county}nnn#"),
    "thai_id": ("th.pin", "{1|3|5}nnnnnnnnnnn#"),
}
"""Module of python-stdnum and template: n a digit, l a letter, others are tried until the check passes."""


def _filled(template: str, rng: np.random.Generator) -> str:
    def choose(match: re.Match[str]) -> str:
        token = match[1]
        day = datetime.date(1955, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 16_000)))
        if token == "distinct":  # of the first ten digits one is there twice, one not at all
            digits = [str(digit) for digit in rng.permutation(np.arange(1, 10))]
            return "".join([*digits, digits[int(rng.integers(0, 8))]])
        known = {"yy": f"{day:%y}", "mm": f"{day:%m}", "dd": f"{min(day.day, 28):02}"}
        known |= {"dept": f"{rng.integers(1, 20):02}", "county": f"{rng.integers(1, 24):02}"}
        return known.get(token) or str(rng.choice(token.split("|")))

    text = re.sub(r"\{([^}]+)\}", choose, template)
    kinds = {"n": list(string.digits), "l": list("BCDFGKLMNPRSTVXZ")}
    return "".join(str(rng.choice(kinds[char])) if char in kinds else char for char in text)


def _valid(template: str, check: Callable[[str], bool], rng: np.random.Generator) -> str:
    """Fill a template, and try its check characters until it is valid; begin again where none is."""
    while True:
        text = _filled(template, rng)
        places = [i for i, char in enumerate(text) if char in _TRIED]
        for tried in itertools.product(*(_TRIED[text[i]] for i in places)):
            chars = list(text)
            for place, char in zip(places, tried, strict=True):
                chars[place] = char
            if check("".join(chars)):
                return "".join(chars)


def true_ones(name: str, records: int, rng: np.random.Generator) -> pd.Series:
    """Make a column of invented identifiers of one kind, (records,), all different."""
    made: dict[str, None] = {}
    while len(made) < records:
        made[_one(name, rng)] = None
    values = list(made)
    whole = all(value.isdigit() and value[0] != "0" for value in values)
    return pd.Series([int(value) for value in values] if whole and len(values[0]) < 19 else values)


def _one(name: str, rng: np.random.Generator) -> str:
    if name in TEMPLATES:
        module, template = TEMPLATES[name]
        return _valid(template, import_module(f"stdnum.{module}").is_valid, rng)
    tail = "".join(map(str, rng.integers(0, 10, 18)))
    area, exchange = rng.choice([x for x in range(200, 1000) if x % 100 != 11 and x != 666], 2)
    return {
        "email": f"ann{tail[:8]}＠mail.example.org",
        "telephone": f"{area}{exchange}{tail[:4]}",
        "ssn": f"{rng.integers(1, 666):03}{rng.integers(1, 100):02}{rng.integers(1, 10_000):04}",
        "iban": f"DE{98 - int(tail + '131400') % 97:02}{tail}",
        "ip_address": f"203.{tail[0]}.{area % 256}.{1 + exchange % 255}",
        "nino": f"{rng.choice(list('ABCEJ'))}{rng.choice(list('BCEHJ'))}{tail[:6]}{rng.choice(list('ABCD'))}",
    }[name]


def _digits(length: int) -> Callable[[int, np.random.Generator], pd.Series]:
    def make(records: int, rng: np.random.Generator) -> pd.Series:
        rows = rng.integers(0, 10, (records, length))
        rows[:, 0] = rng.integers(1, 10, records)
        return pd.Series(["".join(map(str, row)) for row in rows])

    return make


def _ints(
    make: Callable[[int, np.random.Generator], object],
) -> Callable[[int, np.random.Generator], pd.Series]:
    return lambda records, rng: pd.Series(make(records, rng))


OTHERS: Mapping[str, Callable[[int, np.random.Generator], pd.Series]] = {
    **{f"random digits, {length}": _digits(length) for length in range(4, 20)},
    "amounts with cents": _ints(lambda n, r: np.round(r.lognormal(9, 2, n), 2)),
    "whole amounts": _ints(lambda n, r: r.lognormal(15, 3, n).astype(np.int64)),
    "amounts of ten digits": _ints(lambda n, r: r.integers(2_000_000_000, 9_999_999_999, n)),
    "amounts of nine digits": _ints(lambda n, r: r.lognormal(19.5, 0.6, n).astype(np.int64)),
    "seconds since 1970": _ints(lambda n, r: r.integers(1_200_000_000, 1_790_000_000, n)),
    "milliseconds since 1970": _ints(lambda n, r: r.integers(1_200_000_000_000, 1_790_000_000_000, n)),
    "YYYYMMDDhhmm": _ints(
        lambda n, r: pd.to_datetime(r.integers(10**9, 179 * 10**7, n), unit="s").strftime("%Y%m%d%H%M")
    ),
    "YYMMDDhhmm": _ints(
        lambda n, r: pd.to_datetime(r.integers(10**9, 179 * 10**7, n), unit="s").strftime("%y%m%d%H%M")
    ),
    "years": _ints(lambda n, r: r.integers(1900, 2030, n)),
    "ZIP codes": _ints(lambda n, r: [f"{x:05}" for x in r.integers(0, 99_999, n)]),
    "ZIP+4": _ints(lambda n, r: [f"{x:05}-{y:04}" for x, y in r.integers(0, 9_999, (n, 2))]),
    "order numbers in sequence, 9": _ints(lambda n, r: 100_000_001 + np.cumsum(r.integers(1, 5, n))),
    "order numbers in sequence, 10": _ints(lambda n, r: 4_255_000_000 + np.cumsum(r.integers(1, 5, n))),
    "counters with zeros, 10": _ints(lambda n, r: [f"{x:010}" for x in np.arange(n)]),
    "order numbers by day": _ints(
        lambda n, r: [
            f"2024{d:04}{x:04}" for d, x in zip(r.integers(101, 1231, n), np.arange(n) % 10_000, strict=True)
        ]
    ),
    "UUIDs": _ints(lambda n, r: [str(uuid.UUID(bytes=r.bytes(16), version=4)) for _ in range(n)]),
    "hexadecimal, 16": _ints(lambda n, r: [r.bytes(8).hex() for _ in range(n)]),
    "ICD codes": _ints(
        lambda n, r: [f"{r.choice(list(_LETTERS))}{x:02}.{y}" for x, y in r.integers(0, 100, (n, 2))]
    ),
    "EAN-13 with check digits": _ints(lambda n, r: [_ean(f"40{x:010}") for x in r.integers(0, 10**10, n)]),
    "serials like IBAN": _ints(
        lambda n, r: [
            f"DE{x:02}{y:018}" for x, y in zip(r.integers(0, 99, n), r.integers(0, 10**17, n), strict=True)
        ]
    ),
    "letters and digits, 9": _ints(
        lambda n, r: [
            "".join(r.choice(list(_LETTERS), 2)) + f"{x:06}" + str(r.choice(list(_LETTERS)))
            for x in r.integers(0, 10**6, n)
        ]
    ),
    "eight digits and a letter": _ints(
        lambda n, r: [f"{x:08}{r.choice(list(_LETTERS))}" for x in r.integers(0, 10**8, n)]
    ),
    "coordinates": _ints(lambda n, r: np.round(r.uniform(-180, 180, n), 7)),
}
"""Columns of no identifiers."""


def _ean(digits: str) -> str:
    total = sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def recall(name: str, records: int, *, repeats: int, seed: int = 0) -> float:
    """Return the share of generated columns of one kind in which its detector finds it."""
    found = sum(
        name in matches(true_ones(name, records, np.random.default_rng((seed, repeat, records))))
        for repeat in range(repeats)
    )
    return found / repeats


def found_among_others(records: int, *, repeats: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the kind of column and the detector of each column of other values in which one is found."""
    for kind, make in OTHERS.items():
        for repeat in range(repeats):
            for name in matches(make(records, np.random.default_rng((seed, repeat)))):
                yield kind, name


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--records", type=int, default=1_000)
    asked = parser.parse_args(arguments)
    wrong = list(found_among_others(asked.records, repeats=asked.repeats))
    columns = len(OTHERS) * asked.repeats
    print("| name | finds | 12 values | 150 values | found among others |")
    print("|---|---|--:|--:|--:|")
    for detector in DETECTORS:
        shares = [f"{recall(detector.name, n, repeats=asked.repeats):.0%}" for n in (12, 150)]
        false = sum(name == detector.name for _, name in wrong)
        print(f"| `{detector.name}` | {detector.words} | {' | '.join(shares)} | {false} of {columns} |")
    for kind, name in sorted(set(wrong)):
        print(f"{name} was found in: {kind} ({wrong.count((kind, name))} of {asked.repeats})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
