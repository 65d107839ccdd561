"""A module of somebody who uses the package: ``make lint`` types it strictly, against the installed package.

It is never run.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from anon_pipeline import (
    AnonPipelineError,
    AnonymizedRelease,
    GateRefused,
    GateReport,
    Grid,
    InfeasibleError,
    InputError,
    Locations,
    Memory,
    Policy,
    PolicyError,
    PublishError,
    Release,
    Verdict,
    anonymize,
    evaluate,
    load_policy,
    make_release,
    parse_policy,
    patients,
    tune,
)
from anon_pipeline.catalog.entries import Loss, Mechanism, Recoder
from anon_pipeline.gate import Status
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.testing import assert_releasable

NOISE = Mechanism("mine", "my noise", "mine.law")
LARGEST = Limit(
    "largest",
    Words("No class is larger."),
    Judged(lambda case, demand: float(case.evidence.classes.sizes.max())),
)
ENTRIES: tuple[type[Mechanism], type[Recoder], type[Loss]] = (Mechanism, Recoder, Loss)
REFUSALS: tuple[type[AnonPipelineError], ...] = (
    GateRefused,
    InfeasibleError,
    InputError,
    PolicyError,
    PublishError,
)


def release(folder: Path) -> pd.DataFrame:
    """Make a release in memory, and one of the project."""
    policy: Policy = load_policy(folder / "policy.yaml")
    made: Release = anonymize(
        policy, patients(seed=1, records=100), hierarchies=folder, memory=Memory.empty()
    )
    report: GateReport = made.report
    unkept: list[Verdict] = [verdict for verdict in report.verdicts if verdict.status is Status.REFUSED]
    written: Path = make_release(policy, Locations.of(folder)).path
    again: GateReport = evaluate(made.frame, parse_policy("type: anon_pipeline.AnonymizedRelease"))
    best = tune(policy, made.frame, Grid(k=(5, 10))).recommended
    return made.frame if best and not unkept and again.passed and written.is_file() else pd.DataFrame()


def test_release(releasable: Callable[[pd.DataFrame, str], GateReport]) -> None:
    """Assert what the gate says."""
    assert assert_releasable(Path("out.parquet"), "policy.yaml", allow_unmeasured=True).passed
    assert releasable(pd.DataFrame(), "policy.yaml").passed


class Mine(AnonymizedRelease):
    """A component of one's own."""
