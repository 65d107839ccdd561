"""Unmistakable values for every private place, every form in which one could be found, and the search.

Belongs here: the planted table and policy, needles, looking into bytes, SQLite and Parquet. Does not belong
here: the scenarios that could leak them (`leak_scenarios`).
"""

from __future__ import annotations

import base64
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from tests.acknowledging import acknowledged

__all__ = ["FOLDER", "LONG", "PLACES", "PRIVATE", "TEXT", "Needles", "needles", "people", "places", "policy"]

STEM: Final = "CaNaRy7f3a"
PRIVATE: Final = f"{STEM}Prv"
"""Begins every text that no release may hold: identifiers, folders, texts of exceptions, failing cells."""
TEXT: Final = f"{STEM}Rel"
"""Begins every text that the data file, and nothing else but `PLACES`, holds: sensitive, hierarchy values."""
FOLDER: Final = f"{PRIVATE}Folder"
LONG: Final = f"{PRIVATE}Long" * 200
TOWNS: Final = (f"{TEXT}Cork", f"{TEXT}Dublin", f"{TEXT}Galway")
PLACES: Final = (*TOWNS, f"{TEXT}Ireland")
"""The values that a column is generalized to: those that were released may be in a report, too."""
DAY: Final = "1803-07-29"
HEIGHT: Final = 2718281828459
INCOME: Final = 31415926535

Needles = dict[str, bytes]


def people(records: int = 240) -> pd.DataFrame:
    """Make a table with a canary in every column; (records, 9), seeded."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "person": [f"{PRIVATE}Näme\t{i}" for i in range(records)],
            "email": [f"{PRIVATE}.{i}@leak.example" for i in range(records)],
            "history": [LONG + str(i) for i in range(records)],
            "born": pd.date_range("1801-01-01", periods=records).astype("str"),
            "city": rng.choice(TOWNS, records),
            "height": rng.normal(170, 9, records).round(),
            "income": rng.choice([INCOME, 20_000, 30_000], records),
            "illness": rng.choice([f"{TEXT}Gout", f"{TEXT}Flu", "none"], records),
            "note": rng.choice([f"{TEXT}Note", "b"], records),
        }
    )
    frame.loc[:2, "born"] = DAY  # too few to be released as they are
    frame.loc[:2, "height"] = HEIGHT
    return frame


def policy(**changes: Any) -> dict[str, Any]:
    """Return the policy of `people`, as its attributes; sections of ``changes`` are merged in."""
    sections: dict[str, Any] = {
        "name": "small",
        "source": {"path": f"{FOLDER}/people.csv"},
        "columns": {
            "person": {"role": "identifier", "action": "drop"},
            "email": {"role": "identifier", "action": "hash"},
            "history": {"role": "identifier", "action": "mask"},
            "born": {"role": "generalize", "hierarchy": {"dates": ["year", "decade"]}},
            "city": {"role": "generalize", "hierarchy": {"table": f"{FOLDER}/city.csv"}},
            "height": {"role": "perturb", "resolution": 1},
            "income": {"role": "sensitive", "distance": "ordered"},
            "illness": {"role": "sensitive", "distance": "equal"},
            "note": {"role": "insensitive"},
        },
        "deidentify": {"key_file": f"{FOLDER}/key"},
        "anonymize": {"k": 3, "suppression_limit": 0.1},
        "perturb": {"epsilon": 2},
        "suppress": {"confidence": 0.99},
        "gate": {"suppression": 1.0, "linking_risk": 1.0, "t_closeness": {"illness": 1.0}},
        "publish": {"to": "out"},
        "acknowledged": acknowledged("email"),
    }
    for name, change in changes.items():
        known = sections.get(name)
        sections[name] = {**known, **change} if isinstance(known, dict) and name != "source" else change
    return sections


def needles(*, allowed_in_data: bool = True) -> Needles:
    """Return every form of every canary, by a name that does not itself hold one.

    Args:
        allowed_in_data: also those that the cells of the data file may hold.
    """
    texts = {"private text": PRIVATE, "date": DAY, "number of a perturb column": str(HEIGHT)}
    numbers = {"number of a perturb column": HEIGHT}
    if allowed_in_data:
        texts |= {"text": STEM, "number": str(INCOME)}
        numbers |= {"number": INCOME}
    found: Needles = {}
    for kind, text in texts.items():
        known: set[bytes] = set()
        for form, value in _forms(text).items():
            if value not in known:  # digits have no upper case
                found[f"{kind}, {form}"] = value
            known.add(value)
    for kind, number in numbers.items():
        digits = str(number)
        found[f"{kind}, int64"] = number.to_bytes(8, "little")
        found[f"{kind}, float64"] = struct.pack("<d", number)
        found[f"{kind}, scientific"] = f"{digits[0]}.{digits[1:]}e".encode()
        found[f"{kind}, thousands"] = f"{number:,}".encode()
    found["date, with points"] = b"29.07.1803"
    found["date, in words"] = b"Timestamp('1803"
    found["date, as arguments"] = b"(1803, 7, 29"
    return found


def _forms(text: str) -> Needles:
    plain = text.encode()
    forms = {
        "utf-8": plain,
        "utf-16": text.encode("utf-16-le"),
        "utf-16 big endian": text.encode("utf-16-be"),
        "utf-32": text.encode("utf-32-le"),
        "hex": plain.hex().encode(),
        "hex, upper case": plain.hex().upper().encode(),
        "repr": b"".join(b"\\x%02x" % byte for byte in plain),
        "json": b"".join(b"\\u%04x" % byte for byte in plain),
        "url": b"".join(b"%%%02X" % byte for byte in plain),
        "reversed": plain[::-1],
        "lower case": plain.lower(),
        "upper case": plain.upper(),
    }
    for shift in range(3):  # base64 of a text that begins anywhere
        coded = base64.b64encode(b"\0" * shift + plain)
        forms[f"base64 + {shift}"] = coded[4 if shift else 0 : len(coded) - 4]
    return forms


def places(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what there is to search in one file: its name, its bytes, and what they hold once decoded."""
    yield f"name of {path.name}", str(path).encode()
    data = path.read_bytes()
    yield path.name, data
    if data.startswith(b"SQLite format 3\0"):
        yield from _rows(path)
    elif data.startswith(b"PAR1"):
        yield from _parquet(path)


def _rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each cell of a database; Dagster keeps some of them packed."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.text_factory = bytes
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in (raw.decode() for raw in names):
            for row in database.execute(f'SELECT * FROM "{name}"'):
                yield f"{path.name}:{name}", b"\0".join(map(_unpacked, row))


def _unpacked(cell: object) -> bytes:
    if not isinstance(cell, bytes):
        return str(cell).encode()
    try:
        return cell + b"\0" + zlib.decompress(cell)
    except zlib.error:
        return cell


def _parquet(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield columns, one by one, and the file's own metadata."""
    table = pq.read_table(path)
    yield f"{path.name}: metadata", repr((table.schema, table.schema.metadata)).encode()
    for name in table.column_names:
        yield f"{path.name}: {name}", "\0".join(map(str, table.column(name).to_pylist())).encode()
