"""The scenarios of leaks on the command line and in a notebook.

Belongs here: good and bad input, every kind of crash in every stage. Does not belong here: the search.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from anon_pipeline import anonymize, load_policy
from tests.adversarial.bad_inputs import CASES, BadInput, call
from tests.adversarial.blows import BLOWS, Outcomes, blown
from tests.adversarial.canaries import people

__all__ = ["scenarios"]

_STAGES = {
    "source": "anon_pipeline.publish.whole_chain.read_source",
    "key": "anon_pipeline.publish.whole_chain.hashing_key",
    "raw": "anon_pipeline.stages.pipeline.accepted_input",
    "deidentified": "anon_pipeline.stages.pipeline.deidentify",
    "k_anonymized": "anon_pipeline.stages.pipeline.recode",
    "perturbed": "anon_pipeline.encode.noise.add_noise",
    "shuffled": "anon_pipeline.stages.pipeline.permutation",
    "suppressed": "anon_pipeline.stages.pipeline.suppress_unconfident",
    "bytes": "anon_pipeline.publish.judgment.to_files",
    "gate": "anon_pipeline.publish.judgment.evaluate",
    "writing": "anon_pipeline.publish.release.write_release",
    "report": "anon_pipeline.cli.run_output.print_report",
}
"""A function that each stage calls on the data, by the stage."""
_NOT_IN_NOTEBOOKS = {"source", "bytes", "gate", "writing", "report"}
"""Stages that `anonymize` does not have: it is given a table, and writes none."""

_CODES = {"raises a named error": 2, "warns": 0}
_BUG = 70


def scenarios(outcomes: Outcomes) -> None:
    """The command line: good and bad input, every kind of crash in every stage."""
    outcomes.add("passes", call(outcomes.project(), ("run", "policy.yaml")), 0)
    refusing = {"gate": {"linking_risk": 0.0}}
    refused = outcomes.project(BadInput("refused", sections=refusing))
    outcomes.add("gate refuses", call(refused, ("run", "policy.yaml")), 1)
    for case in CASES:
        outcomes.add(case.name, call(outcomes.project(case), case.arguments), case.code)
    for stage, target in _STAGES.items():
        for kind, blow in BLOWS.items():
            folder = outcomes.project()
            with blown(target, blow):
                code = _shown(folder, ("run", "policy.yaml"))
            outcomes.add(f"{stage} {kind}", code, _CODES.get(kind, _BUG))
    project = outcomes.project()
    with blown("anon_pipeline.limits.classes.class_t_closeness", BLOWS["raises"]):
        outcomes.add("a measure raises", call(project, ("run", "policy.yaml")), 1)
    for kind in ("raises", "panics", "leaves"):
        with blown("anon_pipeline.publish.file_formats.read_parquet", BLOWS[kind]):
            asked = ("check", "any.parquet", "--policy", "policy.yaml")
            outcomes.add(f"check {kind}", _shown(project, asked), _BUG)
        with blown("anon_pipeline.tuning.tune.expect", BLOWS[kind]):
            asked = ("tune", "policy.yaml", "--epsilon", "1")
            outcomes.add(f"tune {kind}", _shown(project, asked), _BUG)
    _notebook(outcomes)


def _shown(folder: Path, arguments: tuple[str, ...]) -> int:
    """Run a command; what escapes is shown as Python would show it."""
    try:
        return call(folder, arguments)
    except BaseException:
        traceback.print_exc()
        return 1


def _notebook(outcomes: Outcomes) -> None:
    """`anonymize` in a notebook: all that an exception holds, and what its objects look like."""
    folder = outcomes.project()
    policy = load_policy(folder / "policy.yaml")
    made = anonymize(policy, people(), hierarchies=folder)
    print(repr(made), repr(made.report), repr(made.facts))
    outcomes.add("a notebook shows a release", made.report.passed, True)
    for stage, target in _STAGES.items():
        if stage in _NOT_IN_NOTEBOOKS:
            continue
        for kind, blow in BLOWS.items():
            with blown(target, blow):
                ended = _told(partial(anonymize, policy, people(), hierarchies=folder))
            wanted = {"raises a named error": "InputError", "warns": "nothing"}.get(kind, "StageCrashed")
            outcomes.add(f"notebook: {stage} {kind}", ended, wanted)


def _told(work: Callable[[], object]) -> str:
    """Do something, and tell all that its exception and those behind it say."""
    try:
        work()
    except BaseException as error:
        traceback.print_exception(error)
        for one in _behind(error):
            print(repr(one), one, one.args, getattr(one, "__notes__", ""), getattr(one, "problems", ""))
        return type(error).__name__
    return "nothing"


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if error.__cause__ is not None:
            yield from _behind(error.__cause__)
        error = error.__context__
