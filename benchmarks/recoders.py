"""The table of recoders: ``python -m benchmarks.recoders [--only NAME …]``, and more: ``--help``.

Belongs here: cases with targets and figures from elsewhere, printing. Does not belong here: what a case times
(`recoder_cases`, `recoder_rows`), growth (`growth`).

Every case runs in a fresh process, so that its peak memory is its own; this module imports nothing heavy.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.growth import BY_NODES, BY_RECORDS, grow, growth_table
from benchmarks.plot import Panel, drawn
from benchmarks.speed import has_adult, machine, process

_ELSEWHERE: Final = (
    "elsewhere: ARX 3.9.2 (Java, warm, encoding included) and an anonymizer from the Python index (its node "
    "is not\nminimal), measured elsewhere, same kind of machine; fixed figures, not run here."
)
_OTHER_PYTHON: Final = "Python 2.9-4.8 s"
_GIB: Final = 1024.0


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    name: of the case in `recoder_cases`.
    title: for people.
    target: seconds at most, encoding included; None where nothing is promised.
    alone: whether the target is the recoder's, without encoding.
    memory: MiB at most, libraries and data included.
    elsewhere: what others take for the same.
    adult: whether it needs the real data.
    """

    name: str
    title: str
    target: float | None = None
    alone: bool = False
    memory: float | None = None
    elsewhere: str = ""
    adult: bool = True


_B: Final = "(b) k = 5, 5 %, "
_T: Final = "(b) k = 5, t = 0.2, "

ROWS: Final = (
    Row("set_a", "(a) k = 5, 5 %, optimal, precision", elsewhere="ARX 5-7 ms"),
    Row("b_precision", f"{_B}optimal, precision", 0.060, elsewhere=f"ARX 340 ms, {_OTHER_PYTHON}"),
    Row("b_granularity", f"{_B}optimal, granularity", 0.060, elsewhere="ARX 350 ms"),
    Row("b_discernibility", f"{_B}optimal, discernibility", 0.120, elsewhere="ARX 386 ms"),
    Row("b_average_class_size", f"{_B}optimal, average class size", 0.120, elsewhere="ARX 443 ms"),
    Row("b_entropy", f"{_B}optimal, entropy"),
    Row("b_classification", f"{_B}optimal, classification"),
    Row("b_cells", f"{_B}optimal, granularity, cells"),
    Row("b_local_suppression", f"{_B}fixed (age in decades, else exact), granularity, cells"),
    *(
        Row(f"b_{name}", f"{_B}{name}, granularity")
        for name in (
            *("ola", "incognito", "samarati", "datafly", "mingen", "fixed"),
            *("top_down", "annealing", "genetic", "k_optimize", "local", "forest"),
            *("mondrian", "mondrian_relaxed"),
        )
    ),
    Row("b_given", "(b) k = 5, 5 %, given (sorted, ten records each), granularity"),
    *(
        Row(f"{limit}_{loss}", f"(b) k = 5, {text}, optimal, {loss.replace('_', ' ')}", 2.0)
        for limit, text in (
            ("t", "t = 0.2"),
            ("entropy_l", "entropy l = 1.3"),
            ("recursive_l", "recursive (4, 2)"),
        )
        for loss in ("granularity", "average_class_size")
    ),
    *(
        Row(f"t_{name}", f"{_T}{name}, granularity")
        for name in (
            *("ola", "incognito", "samarati", "datafly", "mingen"),
            *("top_down", "annealing", "genetic", "k_optimize", "local", "forest"),
            *("mondrian", "mondrian_relaxed"),
        )
    ),
    Row("eight", "Adult, 3 numbers and 5 categories, k = 10, mondrian", 0.020, alone=True),
    Row("million_mondrian", "1,000,000 × 8, k = 5, mondrian", 1.5, adult=False),
    Row("mdav", "Adult, 30,162 × 4 numbers, k = 5, mdav", 0.5),
    Row("vmdav", "the same, vmdav"),
    Row("k_member", "the same, k_member"),
    Row("one_pass", "the same, one_pass"),
    Row("local", "the same, local"),
    Row("forest", "the same, forest"),
    Row("numbers_mondrian", "the same, mondrian"),
    Row("univariate", "Adult, fnlwgt alone, k = 5, univariate"),
    Row("merge", "Adult, 3 numbers, k = 5, t = 0.15 on the hours, merge"),
    Row("kanon_first", "the same, kanon_first"),
    Row("tclose_first", "the same, tclose_first"),
    Row("hours_mondrian", "the same, mondrian (t = 0.15)"),
    *(
        Row(f"{name}_{loss}", f"{size}, k = 5, 5 %, optimal, {loss.replace('_', ' ')}", 0.5, adult=False)
        for name, size in (("23k", "60,000 × 8, 23,040 nodes"), ("41k", "100,000 × 8, 40,960 nodes"))
        for loss in ("precision", "granularity", "discernibility", "average_class_size")
    ),
    *(
        Row(
            f"million_{loss}",
            f"1,000,000 × 9, 25,920 nodes, k = 5, 0 %, optimal, {loss}",
            4.0,
            memory=1.5 * _GIB,
            adult=False,
        )
        for loss in ("precision", "granularity")
    ),
)


def kept(row: Row, found: dict[str, Any]) -> bool:
    """Tell whether a row's medians keep its targets, and a recoding was found."""
    seconds = median(found["search" if row.alone else "seconds"])
    return (
        found["visited"] is not None
        and (row.target is None or seconds <= row.target)
        and (row.memory is None or found["peak"] <= row.memory)
    )


def line(row: Row, found: dict[str, Any]) -> str:
    """Return one row of the table."""
    seconds, search, processor = found["seconds"], found["search"], found["processor"]
    times = [median(seconds), min(seconds), median(search), median(processor)]
    promised = row.target is not None or row.memory is not None
    targets = [] if row.target is None else [_time(row.target)]
    targets += [] if row.memory is None else [f"{row.memory / _GIB:g} GiB"]
    target = f"{', '.join(targets)} {'✓' if kept(row, found) else '✗'}" if promised else ""
    cells = f"{row.title:66}" + "".join(f"{_time(value):>10}" for value in times)
    cells += f"{target:>18}{found['peak']:>7.0f} ({found['before']:.0f})"
    if found["visited"] is None:
        return f"{cells}   no recoding keeps the limits"
    cells += f"{found['visited']:>9,}{found['loss']:>11.6f}{found['suppressed']:>8,}{found['classes']:>9,}"
    more = [] if not found["cells"] else [f"{found['cells']:,} cells"]
    more += [] if found["sse"] is None else [f"sse {found['sse']:.6f}"]
    more += [row.elsewhere] if row.elsewhere else []
    return f"{cells}   {', '.join(more)}".rstrip()


MARKDOWN: Final = (
    "| | processor | clock | target | visited | loss | suppressed | classes | peak | elsewhere |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"
)
"""Head of the table in docs/recoders.md: medians of the processor's time, least of the clock's."""


def markdown(row: Row, found: dict[str, Any]) -> str:
    """Return one row of the table in docs/recoders.md."""
    cells = [row.title, _time(median(found["processor"])), _time(min(found["seconds"]))]
    cells += ["" if row.target is None else _time(row.target) + (", the recoder alone" if row.alone else "")]
    if found["visited"] is None:
        cells += [""] * 4
    else:
        cells += [f"{found['visited']:,}" if found["visited"] else "", f"{found['loss']:.3g}"]
        cells += [f"{found['suppressed']:,}", f"{found['classes']:,}"]
    more = [] if not found["cells"] else [f"{found['cells']:,} cells blanked"]
    more += [] if found["sse"] is None else [f"`sse` {found['sse']:.6f}"]
    more += [row.elsewhere] if row.elsewhere else []
    cells += [f"{found['peak']:.0f}", ", ".join(more)]
    return f"| {' | '.join(cells)} |"


def _time(value: float) -> str:
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


_HEAD: Final = (
    f"{'':66}{'median':>10}{'least':>10}{'search':>10}{'CPU':>10}{'target':>18}{'peak MiB':>13}"
    f"{'visited':>9}{'loss':>11}{'suppr.':>8}{'classes':>9}   elsewhere"
)
_NOTE: Final = (
    "median, least: seconds with encoding; search: the recoder's median; CPU: the processor's time, with "
    "encoding; peak\nmemory, in brackets of it libraries and data; visited: lattice nodes counted; loss: as "
    "named, others granularity.\n"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recoders", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=[row.name for row in ROWS], metavar="NAME")
    parser.add_argument("--markdown", action="store_true", help="the table as in docs/recoders.md")
    parser.add_argument("--growth", action="store_true", help="time against records and nodes, too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="the growth as SVG")
    parser.add_argument("--limit", type=float, default=30.0, metavar="SECONDS", help="per point of growth")
    chosen = parser.parse_args(arguments)
    print(machine())
    rows = [row for row in ROWS if chosen.only is None or row.name in chosen.only]
    missed = _print_rows(rows, marked=chosen.markdown) if rows else 0
    if chosen.growth or chosen.plot:
        _print_growth(chosen.limit, chosen.plot)
    return 1 if missed else 0


def _print_rows(rows: Sequence[Row], *, marked: bool) -> int:
    """Print rows and return how many miss their target."""
    print(MARKDOWN if marked else f"{_NOTE}{_ELSEWHERE}\n\n{_HEAD}")
    missed = 0
    for row in rows:
        if row.adult and not has_adult():
            print(f"{row.title:66}   skipped: needs the real data (../shared/data or ANON_PIPELINE_DATA)")
            continue
        command = [sys.executable, "-m", "benchmarks.recoder_rows", row.name]
        found: dict[str, Any] = json.loads(process(command)[0])
        print(markdown(row, found) if marked else line(row, found), flush=True)
        missed += not kept(row, found)
    return missed


def _print_growth(limit: float, plot: Path | None) -> None:
    panels = []
    for growth in (BY_RECORDS, BY_NODES):
        curves = grow(growth, limit=limit)
        print(f"\n{growth_table(growth, curves, limit=limit)}", flush=True)
        panels.append(Panel(growth.title, growth.axis, curves))
    if plot is not None:
        plot.write_text(drawn(panels), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
