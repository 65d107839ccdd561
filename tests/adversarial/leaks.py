"""Nothing leaks: canaries in every private place, everything that could go wrong, and a search for them.

Run as ``python -m tests.adversarial.leaks``. Belongs here: running the scenarios in processes with a home
of their own and searching all that they leave outside the vault. Does not belong here: the scenarios, the
needles.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.adversarial.canaries import PLACES, Needles, needles, places

__all__ = ["LeakResult", "main", "search_all", "search_control"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class LeakResult:
    """What was searched and found.

    scenarios: how many were run.
    places: files, file names, database rows and columns that were searched.
    leaked: where which form of which canary was found; without the canary.
    """

    scenarios: int
    places: int
    leaked: tuple[str, ...]


class ScenarioFailed(AssertionError):
    """A scenario did not end as it must: then its search says nothing."""


def search_all() -> LeakResult:
    """Run every scenario, on the command line and in Dagster, and search what they leave."""
    return _searched("cli", "dagster", "elsewhere", "program")


def search_control() -> LeakResult:
    """Run the asset that leaks on purpose: what the search finds then says what it can find."""
    return _searched("control")


def _searched(*sides: str) -> LeakResult:
    with tempfile.TemporaryDirectory(prefix="leaks-") as base:
        started = [(side, *_start(side, Path(base) / side)) for side in sides]
        for side, folder, process in started:
            if process.wait(timeout=600):
                raise ScenarioFailed(f"{side}: {(folder / 'stderr').read_text()[-2000:]}")
        scenarios = sum(_scenarios(folder) for _, folder, _ in started)
        found = [_search(folder) for _, folder, _ in started]
    return LeakResult(
        scenarios, sum(count for count, _ in found), tuple(x for _, hits in found for x in hits)
    )


def _start(side: str, folder: Path) -> tuple[Path, subprocess.Popen[bytes]]:
    """Start a side's process with folders of its own for all that it may write."""
    for name in ("home", "tmp", "cwd", "dagster", "projects"):
        (folder / name).mkdir(parents=True)
    (folder / "dagster" / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    own = {"HOME": "home", "TMPDIR": "tmp", "DAGSTER_HOME": "dagster", "XDG_CACHE_HOME": "home"}
    moved = {name for name in os.environ if name.startswith("ANON_PIPELINE_")}
    environment = {name: value for name, value in os.environ.items() if name not in moved}
    environment |= {name: str(folder / place) for name, place in own.items()}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", "DAGSTER_DISABLE_TELEMETRY": "yes"}
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.adversarial.leak_scenarios", side, str(folder)],
            stdout=out,
            stderr=err,
            stdin=subprocess.DEVNULL,
            cwd=folder / "cwd",
            env=environment,
        )
    return folder, process


def _scenarios(folder: Path) -> int:
    """Count the scenarios; refuse those that did not end as they must."""
    ends = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text().splitlines()]
    others = [end for end in ends if end["got"] != end["wanted"]]
    wrong = [f"{end['name']}: {end['got']}, not {end['wanted']}" for end in others]
    if wrong:
        raise ScenarioFailed("; ".join(wrong))
    return len(ends)


def _search(folder: Path) -> tuple[int, list[str]]:
    """Search all that was written: places, and what was found where."""
    everywhere, in_data, count, hits = needles(), needles(allowed_in_data=False), 0, []
    for path in _written(folder):
        wanted = in_data if _is_data(path) else everywhere
        shown = PLACES if _is_report(path) else ()
        for place, data in _below(folder, path):
            count += 1
            where = f"{path.relative_to(folder).parts[0]}: {_masked(place)}"
            hits += [f"{where}: {name}" for name in _in(_without(data, shown), wanted)]
    return count, hits


def _below(folder: Path, path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the places of a file; its name is what it is called below the folder."""
    for place, data in places(path):
        yield place, data.replace(str(folder).encode(), b"") if place.startswith("name of") else data


def _masked(place: str) -> str:
    return place if not _in(place.encode(), needles()) else "(a name that is itself a leak)"


def _without(data: bytes, shown: Iterable[str]) -> bytes:
    """Leave out released generalized values; all else that begins like them is a leak."""
    for label in shown:
        data = data.replace(label.encode(), b"")
    return data


def _in(data: bytes, wanted: Needles) -> list[str]:
    return [name for name, needle in wanted.items() if needle in data]


def _written(folder: Path) -> Iterator[Path]:
    """Yield every file but those of a vault and the scenarios' own inputs, as they were given."""
    listed = folder / "given.jsonl"
    lines = listed.read_text().splitlines() if listed.exists() else []
    given = dict(json.loads(line) for line in lines)
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        of_project = parts[2:] if parts[0] == "projects" else ()
        if not path.is_file() or of_project[:1] == ("vault",) or path.name == "given.jsonl":
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != given.get(str(path)):
            yield path


def _is_data(path: Path) -> bool:
    """Whether a file is the data file of a release: what its manifest names, and nothing else."""
    manifest = path.parent / "manifest.json"
    if path == manifest or not manifest.is_file():
        return False
    try:
        return path.name in {file["name"] for file in json.loads(manifest.read_text())["files"]}
    except (ValueError, LookupError):
        return False


def _is_report(path: Path) -> bool:
    """Whether a file is the report of a release, or of the one before: that one stays for slow readers."""
    beside = (path.parent / "manifest.json").is_file()
    return beside and re.fullmatch(r"\w+-report-[0-9a-f]{16}\.html", path.name) is not None


def main() -> int:
    """Print what was searched and found; 1 if anything leaked."""
    result = search_all()
    print(f"{result.scenarios} scenarios, {result.places} places searched, {len(result.leaked)} leaked")
    for line in sorted(set(result.leaked)):
        print(f"  {line}")
    return 1 if result.leaked else 0


if __name__ == "__main__":
    sys.exit(main())
