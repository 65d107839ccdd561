"""What facts may say: types, ranges, known names, and only words of this program or of the policy.

Facts come back from the vault, and what they say goes into the manifest. Who can write in a vault without a
key could write anything there: so whatever is not what a stage writes is refused, and no text gets through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.agreement import FactVersion, broken_facts, decided_by, noise_said, said_of
from anon_pipeline.stages.facts.fields import FIELDS
from anon_pipeline.stages.facts.records import DeidentifiedFacts, Facts, SuppressedFacts


def _policy_facts(stage: str, policy: Policy) -> Mapping[str, Any]:
    return said_of(policy, {one.fact: one.name for one in IDENTIFIER_ACTIONS.values()})[stage]


_NOW = FactVersion(
    FIELDS,
    _policy_facts,
    noise_said,
    people={
        DeidentifiedFacts.stage: ("people",),
        SuppressedFacts.stage: ("released_people", "people_with_gaps"),
    },
    advice=". Materialize {} again.",
)


def checked_facts(
    policy: Policy, facts: Facts, fields: Mapping[str, Mapping[str, must.Rule]] = FIELDS
) -> Facts:
    """Return facts that are what the stages write, and nothing else.

    Args:
        policy: whose columns are the only names in them. Facts that claim to be made by it must say what it
            says: ε, recoder, which columns.
        facts: of some or all stages, as the vault has them.
        fields: the rule of every field; `PUBLIC_FIELDS` for facts of a manifest.
    Raises:
        InputError: naming stages and their fields, never what was found there.
    """
    if not isinstance(facts, Mapping) or not all(isinstance(values, Mapping) for values in facts.values()):
        raise InputError("the facts of a table must be a mapping of stages to their facts, got another type")
    version = _NOW if fields is FIELDS else replace(_NOW, fields=fields, advice="")  # of a manifest
    problems = list(broken_facts(version, policy, facts, making=policy.making))
    if problems:
        raise InputError(problems)
    return facts


def decided_facts(policy: Policy) -> Iterator[tuple[str, ...]]:
    """Yield the facts that the policy alone decides, see `decided_by`."""
    return decided_by(_NOW, policy)
