"""The scenarios of `leak_scenarios` inside Dagster: a real DAGSTER_HOME with event log and compute logs.

Belongs here: stages, checks, IO manager, gate, lock; and the control that leaks on purpose. Does not belong
here: the search.
"""

import base64
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import load_policy
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from tests.adversarial.bad_inputs import CASES, BadInput
from tests.adversarial.blows import BLOWS, Outcomes, blown, said
from tests.adversarial.canaries import LONG, PRIVATE, people

__all__ = ["control", "scenarios"]

_STAGES = {
    "raw": "anon_pipeline.stages.pipeline.accepted_input",
    "deidentified": "anon_pipeline.stages.pipeline.deidentify",
    "k_anonymized": "anon_pipeline.stages.pipeline.recode",
    "perturbed": "anon_pipeline.encode.noise.add_noise",
    "shuffled": "anon_pipeline.stages.pipeline.permutation",
    "suppressed": "anon_pipeline.stages.pipeline.suppress_unconfident",
    "published": "anon_pipeline.publish.judgment.to_files",
}
_ELSEWHERE = {
    "source": ("raw", "anon_pipeline.orchestration.assets.read_source"),
    "key": ("deidentified", "anon_pipeline.orchestration.assets.hashing_key"),
    "metadata": ("raw", "anon_pipeline.orchestration.assets.facts_metadata"),
    "loading": ("deidentified", "anon_pipeline.orchestration.vault.read_staged"),
    "storing": ("raw", "anon_pipeline.orchestration.vault.write_staged"),
    "lock": ("published", "anon_pipeline.orchestration.publish_asset.checked_on_this_data"),
    "writing": ("published", "anon_pipeline.publish.release.write_release"),
}
_CHECKS = {
    ("raw", "contract"): "anon_pipeline.orchestration.checks.raw_contract",
    ("deidentified", "no_identifier_left"): "anon_pipeline.orchestration.checks.deidentified_contract",
    ("k_anonymized", "contract"): "anon_pipeline.orchestration.checks.k_anonymized_contract",
    ("published", "k"): "anon_pipeline.orchestration.gate_checks.evaluate",
}
_METRICS = (
    "anon_pipeline.gate.great_expectations.cases.evidence_from",
    "anon_pipeline.gate.great_expectations.cases.released_rows",
    "anon_pipeline.orchestration.gate_checks.suite_of",
)


@dataclass
class _Project:
    """A project and the real instance that its runs are recorded in."""

    folder: Path
    instance: dg.DagsterInstance
    jobs: dict[str, Any] = field(default_factory=dict)

    def run(self, *selected: dg.AssetSelection) -> bool:
        """Run the whole release, or what is selected; return whether it succeeded."""
        wanted = repr(selected)
        if wanted not in self.jobs:
            self.jobs[wanted] = self._job(*selected)
        job = self.jobs[wanted]
        result: bool = job.execute_in_process(instance=self.instance, raise_on_error=False).success
        return result

    def _job(self, *selected: dg.AssetSelection) -> dg.JobDefinition:
        policy = load_policy(self.folder / "policy.yaml")
        definitions = build_release(policy, self.folder)
        if not selected:
            return definitions.resolve_job_def(f"{policy.name}_release")
        some = dg.define_asset_job("some", selected[0], executor_def=dg.in_process_executor)
        return dg.Definitions.merge(definitions, dg.Definitions(jobs=[some])).resolve_job_def("some")

    def stages(self, *stages: str) -> bool:
        """Run some stages without their checks."""
        keys = [dg.AssetKey(["small", stage]) for stage in stages]
        return self.run(dg.AssetSelection.assets(*keys).without_checks())

    def check(self, stage: str, name: str) -> bool:
        key = dg.AssetCheckKey(dg.AssetKey(["small", stage]), name)
        return self.run(dg.AssetSelection.checks(key))

    def table(self, stage: str) -> Path:
        return self.folder / "vault" / "small" / f"{stage}.parquet"


def scenarios(outcomes: Outcomes) -> None:
    """Run all of them on the instance of DAGSTER_HOME."""
    with dg.DagsterInstance.get() as instance:
        project = _Project(outcomes.project(), instance)
        outcomes.add("passes", project.run(), True)
        _stages(outcomes, project)
        _checks(outcomes, project)
        _gate(outcomes, project)
        _inputs(outcomes, instance)


def _stages(outcomes: Outcomes, project: _Project) -> None:
    """Every stage raises; each of the other blows falls on some, in turn. First what needs checked tables."""
    crashes = {stage: (stage, target) for stage, target in _STAGES.items()} | _ELSEWHERE
    others = cycle([kind for kind in BLOWS if kind != "raises"])
    for place, (stage, target) in sorted(crashes.items(), key=lambda item: item[1][0] != "published"):
        for kind in ("raises", next(others), next(others)):
            with blown(target, BLOWS[kind]):
                outcomes.add(f"{place} {kind}", project.stages(stage), kind == "warns")


def _checks(outcomes: Outcomes, project: _Project) -> None:
    others = cycle([kind for kind in BLOWS if kind != "raises"])
    for (stage, name), target in _CHECKS.items():
        for kind in ("raises", next(others), next(others)):
            with blown(target, BLOWS[kind]):
                outcomes.add(f"check of {stage} {kind}", project.check(stage, name), kind == "warns")
    for target in _METRICS:
        for kind in ("raises", next(others)):
            with blown(target, BLOWS[kind]):
                name = f"{target.rpartition('.')[2]} {kind}"
                outcomes.add(name, project.check("published", "great_expectations"), kind == "warns")
    for stage, column in (("raw", "height"), ("k_anonymized", "city"), ("deidentified", "note")):
        with _changed(project, stage, {column: f"{PRIVATE}@leak.example"}):
            name = "no_identifier_left" if stage == "deidentified" else "contract"
            outcomes.add(f"failing rows of {stage}", project.check(stage, name), False)
    with _changed(project, "suppressed", {"height": PRIVATE}):
        for name in ("linking_risk", "great_expectations"):
            outcomes.add(f"failing rows before {name}", project.check("published", name), False)
        outcomes.add("failing rows before published", project.stages("published"), False)
    for value in (said(), pd.DataFrame({"x": [LONG]}), {"x": PRIVATE}, None):
        with blown("anon_pipeline.orchestration.vault.read_staged", lambda _, v=value: lambda *_: v):
            kind = f"the vault gives a {type(value).__name__}"
            outcomes.add(kind, project.stages("deidentified"), False)
            outcomes.add(f"{kind} to a check", project.check("raw", "contract"), False)
        with blown("anon_pipeline.stages.pipeline.accepted_input", lambda _, v=value: lambda *_: v):
            outcomes.add(f"a stage is given a {type(value).__name__}", project.stages("raw"), False)


@contextmanager
def _changed(project: _Project, stage: str, cells: dict[str, Any]) -> Iterator[None]:
    """Break a stage's table in the vault for a while."""
    path = project.table(stage)
    staged = read_staged(path)
    write_staged(path, Staged(staged.frame.assign(**cells), staged.facts))
    try:
        yield
    finally:
        write_staged(path, staged)


def _inputs(outcomes: Outcomes, instance: dg.DagsterInstance) -> None:
    """Bad input: the data of the command line's table; the release's first failing stage ends the run."""
    for case in CASES:
        if case.arguments != ("run", "policy.yaml") or "policy.yaml" in case.files or case.code == 0:
            continue
        project = _Project(outcomes.project(case), instance)
        try:
            load_policy(project.folder / "policy.yaml")
        except Exception:
            continue
        if "schedule" in case.sections:
            continue
        outcomes.add(f"dagster: {case.name}", project.run(), False)


def _gate(outcomes: Outcomes, project: _Project) -> None:
    refusing = {"gate": {"linking_risk": 0.0, "suppression": 0.0, "t_closeness": {"illness": 0.0}}}
    refused = _Project(outcomes.project(BadInput("refused", sections=refusing)), project.instance)
    outcomes.add("gate refuses", refused.run(), False)
    outcomes.add("published alone is refused", refused.stages("published"), False)
    outcomes.add("unchecked tables are refused", _unchecked(refused), False)
    outcomes.add("stages in order", project.stages(*STAGES), True)


def _unchecked(project: _Project) -> bool:
    project.stages(*STAGES)
    return project.stages("published")


def control(outcomes: Outcomes) -> None:
    """Leak on purpose, in every way that the search must find."""

    @dg.asset
    def leaking(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        print(f"printed {PRIVATE}")
        logging.getLogger("some.library").error("logged %s", PRIVATE)
        context.log.info(f"told {PRIVATE}")
        (Path(tempfile.gettempdir()) / "coded").write_bytes(base64.b64encode(f"x{PRIVATE}".encode()))
        (Path.home() / "wide").write_text(PRIVATE, encoding="utf-16")
        (Path.home() / f"named {PRIVATE}").touch()
        Path("table.parquet").write_bytes(people()[["height"]].to_parquet())
        return dg.MaterializeResult(metadata={"preview": str(people(5))})

    @dg.asset
    def crashing() -> None:
        raise ValueError(said())

    with dg.DagsterInstance.get() as instance:
        dg.materialize([leaking], instance=instance)
        dg.materialize([crashing], instance=instance, raise_on_error=False)
    outcomes.add("leaks", True, True)
