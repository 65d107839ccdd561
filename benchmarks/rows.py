"""What the rows of the speed table time, one in a process of its own: ``python -m benchmarks.rows NAME``.

Belongs here: data in memory and the library call on it. Does not belong here: targets, the table (`speed`).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from anon_pipeline.base.observer import Progress, Step
from anon_pipeline.encode.codes import Coded, code_quasi_identifiers
from anon_pipeline.perturb.category_law import CategoryNoise, Domain, flat_domain
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.perturb.mechanisms import Noise, draw, parameters
from anon_pipeline.policy import Policy, parse_policy
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.templates import template
from anon_pipeline.publish.judgment import judge
from anon_pipeline.publish.manifest.manifest import manifest
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.recode import Constraints, Task, by_record, recode
from anon_pipeline.report import internal_report, public_report
from anon_pipeline.sources.patients import patients
from anon_pipeline.stages.pipeline import perturbed, run, shuffled, suppressed
from anon_pipeline.stages.private import Means
from anon_pipeline.tuning.grid import default_grid
from anon_pipeline.tuning.tune import tune
from benchmarks.adult import (
    SET_B,
    adult_census,
    adult_folder,
    adult_policy,
    adult_table,
    paper_table,
    set_a_policy,
    table_columns,
    with_height,
)
from benchmarks.million import MILLION, million, million_policy

Parts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Work:
    """What a row times.

    call: the work; may return the seconds of its parts.
    repeats: how often it is timed, after it has run once untimed.
    amount: what a call makes, for rows that are a rate; 0 for rows that are a time.
    warm: runs in place of the untimed call, where that would take too long.
    """

    call: Callable[[], Parts | None]
    repeats: int = 9
    amount: int = 0
    warm: Callable[[], object] | None = None


def _chain(*, gate: bool) -> Work:
    folder, policy = adult_folder(), set_a_policy()
    table = with_height(adult_table(folder))

    def call() -> None:
        if gate:
            anonymize(policy, table, hierarchies=folder)
        else:
            run(policy, table, Means(folder, None, system_entropy()))

    return Work(call)


def _report() -> Work:
    """Both reports of one release, each as a part."""
    folder, policy = adult_folder(), set_a_policy()
    table = with_height(adult_table(folder))
    made = run(policy, table, Means(folder, None, system_entropy()))
    released, originals = made.suppressed.frame, made.k_anonymized.frame
    judged = judge(made.suppressed, originals, policy, hierarchies=folder)
    document = manifest(
        policy,
        judged.report,
        made.suppressed.facts,
        files=[file.described for file in judged.files],
        made=(datetime.now(UTC), None),
    )

    def call() -> Parts:
        start = time.perf_counter()
        public_report(policy, document, judged.frame)
        middle = time.perf_counter()
        internal_report(policy, document, released, originals, hierarchies=folder)
        return {"public": middle - start, "internal": time.perf_counter() - middle}

    return Work(call)


def _set_b() -> tuple[Policy, pd.DataFrame, Path]:
    attributes = {
        "name": "adult",
        "source": {"path": "adult.csv"},
        "columns": table_columns(SET_B),
        "anonymize": {"k": 5},
    }
    folder = adult_folder()
    return policy_from(attributes), adult_table(folder)[list(SET_B)], folder


def _encode() -> Work:
    policy, table, folder = _set_b()

    def call() -> None:
        code_quasi_identifiers(table, policy, folder=folder)

    return Work(call)


def _optimal(loss: Any, *, encoded: bool) -> Work:
    policy, table, folder = _set_b()
    before = code_quasi_identifiers(table, policy, folder=folder)
    limit = len(table) // 20

    def call() -> None:
        coded = before if encoded else code_quasi_identifiers(table, policy, folder=folder)
        records = by_record(coded.codes, coded.hierarchies)
        recode(Task(coded.hierarchies, Constraints(5, limit), "optimal", loss, by_record=records))

    return Work(call)


def _mixed() -> Coded:
    numbers = {"age": [5, 10, 20], "education-num": [2, 4, 8], "hours-per-week": [5, 10, 20]}
    columns = {
        **{name: {"role": "generalize", "hierarchy": {"intervals": step}} for name, step in numbers.items()},
        **table_columns(("sex", "race", "marital-status", "workclass", "occupation")),
    }
    attributes = {"name": "adult", "source": {"path": "-"}, "columns": columns, "anonymize": {"k": 10}}
    folder = adult_folder()
    return code_quasi_identifiers(adult_census(folder), policy_from(attributes), folder=folder)


def _mondrian() -> Work:
    coded = _mixed()

    def call() -> None:
        records = by_record(coded.codes, coded.hierarchies)
        recode(Task(coded.hierarchies, Constraints(10, 0), "mondrian", "granularity", by_record=records))

    return Work(call)


def _million(classes: int) -> Work:
    policy, before = million_policy(), million(classes)

    def call() -> Parts:
        entropy, times = system_entropy(), [time.perf_counter()]
        noisy = perturbed(policy, before, entropy=entropy)
        times.append(time.perf_counter())
        mixed = shuffled(policy, noisy, entropy=entropy)
        times.append(time.perf_counter())
        suppressed(policy, mixed, before)
        times.append(time.perf_counter())
        return dict(zip(("perturb", "shuffle", "suppress"), np.diff(times).tolist(), strict=True))

    return Work(call, repeats=5)


def _noise(*, mixed: bool) -> Work:
    n = 2_000_000
    diameters = np.random.default_rng(0).integers(1, 600, n) if mixed else np.full(n, 300)
    entropy = system_entropy()

    def call() -> None:
        discrete_laplace(diameters.astype(np.int64), Fraction(2), entropy=entropy)

    return Work(call, amount=n)


def _mechanism(noise: Noise) -> Work:
    n, entropy = 2_000_000, system_entropy()
    diameters = np.random.default_rng(0).integers(1, 600, n).astype(np.int64)

    def call() -> None:
        draw(noise, parameters(noise, diameters), entropy=entropy)

    return Work(call, amount=n)


def _categories(mechanism: str, domain: Domain) -> Work:
    n, entropy = 2_000_000, system_entropy()
    codes = np.random.default_rng(0).integers(0, len(domain.values), n)
    noise = CategoryNoise(mechanism, Fraction(2), domain)

    def call() -> None:
        draw_categories(noise, codes, entropy=entropy)

    return Work(call, amount=n)


def _tree_of_900() -> Domain:
    """Return leaves in parts of 4 to 6, eighteen of them in each of ten."""
    leaves = np.arange(900)
    part = np.searchsorted(np.cumsum(np.tile([4, 5, 6], 60)), leaves, side="right")
    return Domain(tuple(map(str, leaves)), (leaves, part, part // 18, np.zeros(900, np.int64)))


def _tune() -> Work:
    """Tune the paper's policy: one recoding for each k, closed forms for the rest."""
    policy, table = adult_policy(10, 10, "ola"), paper_table(adult_folder())
    grid = default_grid(policy)
    assert (len(grid.k), len(grid.epsilon)) == (7, 7)

    def call() -> None:
        tune(policy, table, grid)

    return Work(call, repeats=5)


def _patients() -> Work:
    policy, table = parse_policy(template("patients")), patients(MILLION)
    few = table.head(20_000)

    def chain(frame: pd.DataFrame) -> Parts:
        times: dict[str, float] = {}

        def observe(event: Step | Progress) -> None:
            if isinstance(event, Step):
                times[event.name] = time.perf_counter()

        run(
            policy,
            frame,
            Means(Path(), None, system_entropy(), observe=observe),
        )
        ends = [*times.values(), time.perf_counter()]
        return dict(zip(times, np.diff(ends).tolist(), strict=True))

    return Work(lambda: chain(table), repeats=1, warm=lambda: chain(few))


WORK: Final[dict[str, Callable[[], Work]]] = {
    "chain": lambda: _chain(gate=False),
    "chain_gate": lambda: _chain(gate=True),
    "report": _report,
    "encode": _encode,
    "precision": lambda: _optimal("precision", encoded=True),
    "precision_encoding": lambda: _optimal("precision", encoded=False),
    "granularity": lambda: _optimal("granularity", encoded=True),
    "granularity_encoding": lambda: _optimal("granularity", encoded=False),
    "mondrian": _mondrian,
    "million_5": lambda: _million(5_000),
    "million_100": lambda: _million(100_000),
    "noise": lambda: _noise(mixed=False),
    "noise_mixed": lambda: _noise(mixed=True),
    "staircase": lambda: _mechanism(Noise("staircase", Fraction(2))),
    "gaussian": lambda: _mechanism(Noise("discrete_gaussian", Fraction(2), Fraction(1, 10**6))),
    "uniform": lambda: _mechanism(Noise("uniform", Fraction(2))),
    "categories": lambda: _categories("randomized_response", flat_domain([str(i) for i in range(10)])),
    "categories_tree": lambda: _categories("exponential", _tree_of_900()),
    "tune": _tune,
    "patients": _patients,
}
"""What each row times, by its name; calling an entry makes the data."""


def measure(work: Work, *, repeats: int | None = None) -> dict[str, Any]:
    """Time the work, numba warm.

    Args:
        work: of a row.
        repeats: in place of the work's own.
    Returns:
        seconds of each repeat, medians of the parts, amount, and the process's peak memory in MiB before the
        work (data and libraries) and after it.
    """
    before = _peak()
    (work.warm or work.call)()
    seconds, parts = [], []
    for _ in range(work.repeats if repeats is None else repeats):
        start = time.perf_counter()
        found = work.call()
        seconds.append(time.perf_counter() - start)
        parts.append(found or {})
    median = pd.DataFrame(parts).median()
    return {
        "seconds": seconds,
        "parts": {str(name): float(value) for name, value in median.items()},
        "amount": work.amount,
        "before": before,
        "peak": _peak(),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    json.dump(measure(WORK[sys.argv[1]]()), sys.stdout)
