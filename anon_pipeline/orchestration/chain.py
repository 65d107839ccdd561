"""The chain of a release: its stages in order, each check after the stage that it guards.

`assets/chain.py` of the repository is a copy to change. The gate is not part of what can be changed: its
checks are those of `published`, which judges whatever it is given, and a chain without them is refused here.

Decision: docs/adr/0043-one-asset-for-each-stage.md.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.assets import (
    deidentified,
    k_anonymized,
    perturbed,
    raw,
    shuffled,
    suppressed,
)
from anon_pipeline.orchestration.checks import (
    Check,
    check_declared,
    check_hierarchies,
    check_identifiers,
)
from anon_pipeline.orchestration.publish_asset import published
from anon_pipeline.orchestration.stage import Stage
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.names import is_own_stage

Chain = Sequence[Stage | Check]

_RECODED = "k_anonymized"
_CHECKED = {
    "raw": "check_declared",
    "deidentified": "check_identifiers",
    "k_anonymized": "check_hierarchies",
}


def chain(policy: Policy) -> Chain:
    """Return the chain of a release as the component makes it."""
    return [
        raw(policy),
        check_declared(policy),
        deidentified(policy),
        check_identifiers(policy),
        k_anonymized(policy),
        check_hierarchies(policy),
        perturbed(policy),
        shuffled(policy),
        suppressed(policy),
        published(policy),
    ]


def chain_definitions(links: Chain) -> tuple[list[dg.AssetsDefinition], list[dg.AssetChecksDefinition]]:
    """Return the assets and the checks of a chain: each stage takes the table of the one before it.

    Args:
        links: stages in order, checks after the stage that they guard.
    Raises:
        InputError: a stage of the package is missing or not in its place, a stage of the user's own comes
            after the data is generalized, a check is missing, or `published` is without the gate's.
    """
    stages = [link for link in links if isinstance(link, Stage)]
    problems = [*_misplaced_stages([stage.name for stage in stages]), *_misplaced_checks(links)]
    if problems:
        raise InputError(problems)
    before = dict(pairwise([stage.name for stage in stages][::-1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=dg.PreviewWarning)  # partitions of a check
        assets = [stage.asset(before.get(stage.name)) for stage in stages]
        checks = [link.build(before.get(link.guards)) for link in links if isinstance(link, Check)]
    if not assets[-1].check_specs:
        raise InputError("the chain must publish with the gate's checks (published of this package)")
    return assets, checks


def _misplaced_stages(names: list[str]) -> list[str]:
    problems = []
    whole = [*STAGES, "published"]
    if [name for name in names if not is_own_stage(name)] != whole:
        problems.append(
            f"the chain must have the stages {', '.join(whole)}, in this order. The name of an own stage "
            f"begins with own_ and has letters, digits and underscores."
        )
    own = [name for name in names if is_own_stage(name)]
    if len(set(own)) != len(own):
        problems.append("the chain must have each own stage once")
    allowed = names[1 : names.index(_RECODED)] if _RECODED in names else names
    late = [name for name in own if name not in allowed]
    if late:
        problems.append(
            f"{', '.join(late)} must come after raw and before {_RECODED}: the noise, and what the manifest "
            f"says of it, is for the table that {_RECODED} is given."
        )
    return problems


def _misplaced_checks(links: Chain) -> list[str]:
    """List checks that do not stand after the stage that they guard, or are missing."""
    problems, stage = [], None
    for link in links:
        if isinstance(link, Stage):
            stage = link.name
        elif link.guards != stage:
            problems.append(f"the checks of {link.guards} must stand behind it, they stand behind {stage}")
    guarded = {link.guards for link in links if isinstance(link, Check)}
    lacking = [f"{check} behind {name}" for name, check in _CHECKED.items() if name not in guarded]
    if lacking:
        problems.append(f"the chain must have the checks of this package, not there: {', '.join(lacking)}")
    return problems
