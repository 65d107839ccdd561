"""Every kind of bad input for the command line, and how each must end: a named error, nothing written.

Belongs here: projects that are wrong in one way each, and running them. Does not belong here: what is
searched for in what they leave (`leaks`).
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import yaml

from anon_pipeline.policy import TYPE
from tests.adversarial.canaries import DAY, FOLDER, HEIGHT, LONG, PRIVATE, TEXT, people, policy

__all__ = ["CASES", "BadInput", "BadInputResult", "call", "run_all", "write_project"]

Change = Callable[[pd.DataFrame], pd.DataFrame]


def _same(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


@dataclass(frozen=True, slots=True)
class BadInput:
    """A project that is wrong in one way.

    name: of the mistake.
    code: exit code that it must have.
    change: makes the data wrong.
    sections: of the policy, merged in; ``columns`` replaces columns by name.
    files: texts or bytes to write beside, by path below the project; ``policy.yaml`` replaces the policy.
    arguments: of the command.
    """

    name: str
    code: int = 2
    change: Change = _same
    sections: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ("run", "policy.yaml")


def _cells(column: str, value: object, rows: int = 3) -> Change:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame[column] = frame[column].astype(object)
        chosen = (frame.index >= 10) & (frame.index < 10 + rows)  # the first three are suppressed
        frame.loc[chosen, column] = value  # type: ignore[call-overload]
        return frame

    return change


def _data() -> Iterator[BadInput]:
    """Yield tables that do not fit the policy."""
    yield BadInput("a column that is not there", change=lambda p: p.drop(columns="note"))
    yield BadInput("undeclared columns", change=lambda p: p.assign(zz=PRIVATE, aa=1))
    yield BadInput(
        "none of the columns", change=lambda p: p.set_axis([f"{PRIVATE}{i}" for i in range(9)], axis=1)
    )
    yield BadInput("a value outside its hierarchy", change=_cells("city", PRIVATE))
    yield BadInput("a long value outside its hierarchy", change=_cells("city", LONG))
    yield BadInput("a text where a number belongs", change=_cells("height", PRIVATE))
    yield BadInput("a date where a number belongs", change=_cells("income", "1803-07-29"))
    yield BadInput("a text where a date belongs", change=_cells("born", PRIVATE))
    yield BadInput("a number where a date belongs", change=_cells("born", str(HEIGHT)))
    yield BadInput("a missing value", change=_cells("height", None))
    yield BadInput("a missing sensitive value", change=_cells("illness", None))
    yield BadInput("an infinite number", change=_cells("height", np.inf))
    yield BadInput("a number beyond 2^53", change=_cells("height", HEIGHT * 10**6))
    yield BadInput("a control character", change=_cells("city", f"{PRIVATE}\x00\x1b[31m\r\n"))
    yield BadInput("an identifier in a text", 1, change=_cells("note", f"{PRIVATE}@leak.example"))
    yield BadInput("a telephone number in a text", 1, change=_cells("note", f"{PRIVATE} +1 202 555 0123"))
    for spelled in (
        "＠leak.example",
        "(at)leak.example",
        "\u200b@leak\u2060.example",
        " DE89 3704 0044 0532 0130 00",
    ):
        yield BadInput(f"an identifier spelled{spelled}", 1, change=_cells("note", f"{PRIVATE}{spelled}"))
    yield BadInput(
        "an identifier in one of many records", 1, change=_cells("note", f"{PRIVATE}(at)leak.example", 1)
    )
    yield BadInput("one record", 3, change=lambda p: p.iloc[:1])
    yield BadInput("fewer records than k", 3, change=lambda p: p.iloc[:2])
    yield BadInput("no record", change=lambda p: p.iloc[:0])
    yield BadInput(
        "a suppression limit that cannot be met",
        3,
        change=_cells("height", None, 100),
        sections={"columns": {"height": {"role": "perturb", "resolution": 1, "missing": "suppress"}}},
    )
    order = {"role": "sensitive", "distance": "ordered", "order": ["mild", "severe"]}
    yield BadInput("a value outside its order", sections={"columns": {"illness": order}})


def _files() -> Iterator[BadInput]:
    """Yield files that cannot be read as what they should be."""
    source, town = f"{FOLDER}/people.csv", f"{FOLDER}/city.csv"
    torn = f"person,born\n{PRIVATE},1803-07-29\n{PRIVATE}\n"
    yield BadInput("an empty file", files={source: ""})
    yield BadInput("repeated column names", files={source: f"{PRIVATE},{PRIVATE},b\n1,2,3\n"})
    yield BadInput("lines of different length", files={source: torn})
    yield BadInput("another encoding", files={source: f"person\n{PRIVATE}é\n".encode("latin-1")})
    yield BadInput("bytes that are no text", files={source: bytes(range(256)) + PRIVATE.encode()})
    yield BadInput("a quote that is never closed", files={source: f'person,born\n"{PRIVATE},1803-07-29\n'})
    parquet = {"source": {"path": f"{FOLDER}/people.parquet", "format": "parquet"}}
    noise = {f"{FOLDER}/people.parquet": f"PAR1{PRIVATE}PAR1"}
    yield BadInput("no Parquet file", sections=parquet, files=noise)
    yield BadInput("no source", sections={"source": {"path": f"{FOLDER}/nowhere.csv"}})
    yield BadInput(
        "a source that is a folder",
        sections={"source": {"path": f"{FOLDER}/folder"}},
        files={f"{FOLDER}/folder/key": PRIVATE},
    )
    yield BadInput("a hierarchy that is not there", sections=_town({"table": f"{FOLDER}/nowhere.csv"}))
    yield BadInput("a hierarchy that is empty", files={town: ""})
    yield BadInput("a hierarchy that is no text", files={town: b"\xff\xfe" + PRIVATE.encode()})
    yield BadInput("a hierarchy of ragged lines", files={town: f"{TEXT}Cork;{PRIVATE};*\n{TEXT}Dublin;*\n"})
    yield BadInput(
        "a hierarchy that is not nested",
        files={town: f"{TEXT}Cork;{PRIVATE};a;*\n{TEXT}Dublin;{PRIVATE};b;*\n{TEXT}Galway;x;b;*\n"},
    )
    yield BadInput("a leaf that is there twice", files={town: f"{PRIVATE};*\n{PRIVATE};*\n"})
    yield BadInput(
        "a top of several values", files={town: f"{TEXT}Cork;{PRIVATE}1\n{TEXT}Dublin;{PRIVATE}2\n"}
    )
    yield BadInput("a key that is too short", files={f"{FOLDER}/key": PRIVATE[:9]})
    yield BadInput("a key that is not there", sections={"deidentify": {"key_file": f"{FOLDER}/nokey"}})
    yield BadInput("a destination that is a file", files={"out": "in the way"})
    yield BadInput("a destination that is not ours", files={"out/manifest.json": f'{{"x": "{PRIVATE}"}}'})


def _town(hierarchy: Mapping[str, Any]) -> dict[str, Any]:
    return {"columns": {"city": {"role": "generalize", "hierarchy": dict(hierarchy)}}}


def _policies() -> Iterator[BadInput]:
    """Yield policies that are wrong in themselves, and commands that are."""
    yield BadInput("k below 2", sections={"anonymize": {"k": 1}})
    for epsilon in (-1, 0, float("inf"), "much"):
        yield BadInput(f"epsilon of {epsilon}", sections={"perturb": {"epsilon": epsilon}})
    for confidence in (0, 1):
        yield BadInput(f"confidence of {confidence}", sections={"suppress": {"confidence": confidence}})
    yield BadInput("an unknown key", sections={"gate": {"k_anonimity": 5}})
    yield BadInput("an unknown section", sections={"gates": {"k": 5}})
    yield BadInput("intervals that are not nested", sections=_town({"intervals": [2, 3]}))
    yield BadInput("two kinds of hierarchy", sections=_town({"intervals": [2], "suppress": True}))
    yield BadInput("no YAML", files={"policy.yaml": f"type: [{PRIVATE}"})
    yield BadInput("a YAML tag that runs code", files={"policy.yaml": f"a: !!python/name:{PRIVATE}.x"})
    yield BadInput("a policy that is a list", files={"policy.yaml": f"- {PRIVATE}\n"})
    yield BadInput("a policy that is no text", files={"policy.yaml": b"\xff" + PRIVATE.encode()})
    yield BadInput("an empty policy", files={"policy.yaml": ""})
    yield BadInput("no policy", arguments=("run", "nowhere.yaml"))
    yield BadInput("a partition where there is none", arguments=("run", "policy.yaml", "--partition", "2026"))
    weekly = {"schedule": {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}}
    for partition in ("2026-01-06", "nonsense", "../2026-01-05"):
        asked = ("run", "policy.yaml", "--partition", partition)
        yield BadInput(f"the partition {partition}", sections=weekly, arguments=asked)
    yield BadInput("no partition where there are some", sections=weekly)
    yield BadInput("no argument", arguments=("run",))
    yield BadInput("an unknown command", arguments=("nonsense",))


def _checked() -> Iterator[BadInput]:
    """Yield what `check` cannot judge, or must refuse."""

    def check(name: str) -> tuple[str, ...]:
        return ("check", f"{FOLDER}/{name}", "--policy", "policy.yaml", "--allow-unmeasured")

    yield BadInput("check of nothing", arguments=check("nothing.parquet"))
    yield BadInput("check of the original data", 1, arguments=check("people.csv"))
    for name in ("broken.parquet", "notes.txt"):
        yield BadInput(f"check of {name}", files={f"{FOLDER}/{name}": PRIVATE}, arguments=check(name))


def headless(frame: pd.DataFrame, name: str = "note") -> pd.DataFrame:
    """Take the first record for the header; but one cell is, or only looks like, the name of its column."""
    return frame.iloc[1:].set_axis([*frame.iloc[0].astype(str).iloc[:-1], name], axis=1)


def _headers() -> Iterator[BadInput]:
    """Yield files whose names of columns are cells, wherever such files are read."""

    def parquet(frame: pd.DataFrame) -> bytes:
        return frame.astype(str).to_parquet()

    as_parquet = {"source": {"path": f"{FOLDER}/people.parquet", "format": "parquet"}}
    alike = partial(headless, name="n\u043ete")
    for kind, change in (("no header but for one name", headless), ("no header, one look-alike", alike)):
        yield BadInput(kind, change=change)
        for command in ("tune", "utility"):
            yield BadInput(f"{command}: {kind}", change=change, arguments=(command, "policy.yaml"))
        files = {f"{FOLDER}/people.parquet": parquet(change(people()))}
        yield BadInput(f"Parquet: {kind}", sections=as_parquet, files=files)
    yield BadInput(
        "cells as names beside the policy's", change=lambda p: p.assign(**{f"{PRIVATE}a": 1, DAY: 2})
    )
    twice = people().set_axis([f"{PRIVATE}x", f"{PRIVATE}x", *list(people())[2:]], axis=1)
    yield BadInput("cells as equal names", files={f"{FOLDER}/people.csv": twice.to_csv(index=False)})
    limits = {"path": f"{FOLDER}/all.csv", "journalist_risk": 0.1}
    yield BadInput(
        "a population without a header",
        sections={"gate": {"attacks": {"population": limits}}},
        files={f"{FOLDER}/all.csv": people().to_csv(index=False, header=False)},
    )
    yield BadInput(
        "a hierarchy table with another separator",
        files={f"{FOLDER}/city.csv": f"{PRIVATE},{TEXT}Cork,*\n{PRIVATE}2,{TEXT}Dublin,*\n"},
    )
    yield BadInput(
        "a hierarchy table with a header",
        files={f"{FOLDER}/city.csv": f"{PRIVATE};{PRIVATE}up;top\n{TEXT}Cork;{TEXT}Ireland;*\n"},
    )
    for name, written in (
        ("bare.csv", headless(people()).to_csv(index=False).encode()),
        ("bare.parquet", parquet(headless(people()))),
        ("more.parquet", parquet(people().assign(**{f"{PRIVATE}a": 1}))),
    ):
        asked = ("check", f"{FOLDER}/{name}", "--policy", "policy.yaml", "--allow-unmeasured")
        yield BadInput(f"check of {name}", 1, files={f"{FOLDER}/{name}": written}, arguments=asked)
    keys = '{"' + PRIVATE + '": {"age": 31}}'
    yield BadInput("a file of data as the policy", files={"policy.yaml": keys})


CASES = (*_data(), *_files(), *_headers(), *_policies(), *_checked())
"""Each kind of bad input."""


@cache
def _good_table() -> bytes:
    """Return the table without a mistake, as CSV."""
    return people().to_csv(index=False).encode()


def write_project(folder: Path, case: BadInput = BadInput("nothing", 0)) -> Path:
    """Write a project that is wrong in one way; by default in none.

    Args:
        folder: of the project; made if it is not there.
        case: what is wrong.
    """
    inputs = folder / FOLDER
    inputs.mkdir(parents=True, exist_ok=True)
    table = _good_table() if case.change is _same else case.change(people()).to_csv(index=False).encode()
    (inputs / "people.csv").write_bytes(table)
    (inputs / "key").write_text(f"{PRIVATE} of the policy")
    towns = (f"{TEXT}{town};{TEXT}Ireland;*\n" for town in ("Cork", "Dublin", "Galway"))
    (inputs / "city.csv").write_text("".join(towns))
    document = {"type": TYPE, "attributes": policy(**case.sections)}
    (folder / "policy.yaml").write_text(yaml.safe_dump(document))
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def call(folder: Path, arguments: tuple[str, ...]) -> int:
    """Run a command of the program in a folder and return its exit code.

    Raises:
        BaseException: whatever the program lets escape.
    """
    from anon_pipeline.cli import main

    with contextlib.chdir(folder), mock.patch.object(sys, "argv", ["anon-pipeline", *arguments]):
        try:
            main()
        except SystemExit as left:
            return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


@dataclass(frozen=True, slots=True)
class BadInputResult:
    """How bad inputs ended.

    tried: kinds of bad input.
    codes: how many ended with each exit code.
    tracebacks: names of those that ended in a traceback.
    written: names of those that left any other new file; the ledger, which holds names, digests and numbers
        alone, is not counted.
    wrong: names of those with another exit code than they must have.
    drawn: names of those that left sealed draws in the vault, which must outlive a run that failed.
    """

    tried: int
    codes: Mapping[int, int]
    tracebacks: tuple[str, ...]
    written: tuple[str, ...]
    wrong: tuple[str, ...]
    drawn: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """How many did not end as they must."""
        return len({*self.tracebacks, *self.written, *self.wrong})


def run_all() -> BadInputResult:
    """Run every bad input in this process, each in a folder of its own."""
    codes: Counter[int] = Counter()
    tracebacks, drawn, written, wrong = [], [], [], []
    with tempfile.TemporaryDirectory() as base:
        for number, case in enumerate(CASES):
            folder = write_project(Path(base) / str(number), case)
            before = _seen(folder)
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                try:
                    code = call(folder, case.arguments)
                except Exception:
                    code = -1
            codes[code] += 1
            tracebacks += [case.name] if code == -1 or "Traceback" in said.getvalue() else []
            draws = _draws(folder)
            drawn += [case.name] if draws else []
            after = {path: content for path, content in _seen(folder).items() if path not in draws}
            written += [case.name] if after != before else []
            wrong += [case.name] if code != case.code else []
    left = (tuple(names) for names in (tracebacks, written, wrong, drawn))
    return BadInputResult(len(CASES), dict(codes), *left)


def _draws(folder: Path) -> set[Path]:
    """Return what a draw leaves in the vault of a project: its sealed key, and that git ignores the vault."""
    vault = folder / "vault"
    sealed = set((vault / "small" / "draws").glob("*.draw"))
    return {*sealed, vault / ".gitignore"} if sealed else set()


def _seen(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.startswith("ledger.sqlite")}
