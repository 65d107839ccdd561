"""The scenarios of `leak_scenarios` for a release that Dagster Pipes makes in another process.

What goes wrong is told to the process by its arguments. Belongs here: those scenarios. Does not belong here:
the search.
"""

import sys
from pathlib import Path

import dagster as dg

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.release_elsewhere import Elsewhere
from anon_pipeline.policy import load_policy
from tests.adversarial.bad_inputs import CASES, BadInput
from tests.adversarial.blows import Outcomes

__all__ = ["scenarios"]

_PLAIN = "from anon_pipeline.cli import main; main()"
_BLOWN = """
from anon_pipeline.cli import main
from tests.adversarial.blows import BLOWS, blown
with blown({target!r}, BLOWS[{kind!r}]):
    main()
"""
_CRASHES = (
    ("anon_pipeline.stages.pipeline.recode", "raises", False),
    ("anon_pipeline.orchestration.gate_checks.suite_of", "leaves", False),
    ("anon_pipeline.orchestration.pipes_report.published_metadata", "panics", False),
    ("anon_pipeline.publish.release.write_release", "raises a named error", False),
    ("anon_pipeline.encode.noise.add_noise", "warns", True),
)
"""What goes wrong in the process, how, and whether the release is published all the same."""
_INPUTS = 3


def scenarios(outcomes: Outcomes) -> None:
    """Run all of them on the instance of DAGSTER_HOME."""
    refusing = {"gate": {"linking_risk": 0.0, "suppression": 0.0, "t_closeness": {"illness": 0.0}}}
    with dg.DagsterInstance.get() as instance:
        outcomes.add("elsewhere: passes", _made(outcomes.project(), instance, _PLAIN), True)
        for target, kind, published in _CRASHES:
            program = _BLOWN.format(target=target, kind=kind)
            made = _made(outcomes.project(), instance, program)
            outcomes.add(f"elsewhere: {target} {kind}", made, published)
        refused = outcomes.project(BadInput("refused", sections=refusing))
        outcomes.add("elsewhere: gate refuses", _made(refused, instance, _PLAIN), False)
        run = [case for case in CASES if case.arguments == ("run", "policy.yaml") and not case.files]
        for case in run[:_INPUTS]:
            made = _made(outcomes.project(case), instance, _PLAIN)
            outcomes.add(f"elsewhere: {case.name}", made, case.code == 0)


def _made(folder: Path, instance: dg.DagsterInstance, program: str) -> bool:
    """Make the release of a project in a process; tell whether Dagster has accepted it."""
    policy = load_policy(folder / "policy.yaml")
    command = [sys.executable, "-c", program, "run", str(folder / "policy.yaml"), "--project", str(folder)]
    definitions = build_release(policy, folder, elsewhere=Elsewhere(command))
    job = definitions.resolve_job_def(f"{policy.name}_release")
    result = job.execute_in_process(instance=instance, raise_on_error=False)
    return bool(result.success and result.get_asset_materialization_events())
