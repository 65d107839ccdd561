"""What a release in memory loses, in one number, and what the gate says of it as a first release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from anon_pipeline.base.errors import private_stage
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.usefulness import kept_share
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.population import read_population
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.utility.noise_errors import NoiseError
from anon_pipeline.utility.trial import Trial


def judge_trial(made: Trial, locations: Locations) -> GateReport:
    """Let the gate judge a release as if it were the first one."""
    policy, released = made.policy, made.chain.suppressed
    with private_stage("gate"):
        return evaluate(
            released.frame,
            policy,
            released.facts,
            originals=made.chain.k_anonymized.frame,
            hierarchies=locations.hierarchies,
            memory=made.memory,
            population=read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies),
            descent=Descent(released.frame, released.lineage, Where(None, policy.name)),
        )


def noise_of(errors: Mapping[str, NoiseError]) -> float | None:
    """Return the mean over columns of the expected error, of the column's range; None without columns."""
    found = [min(one.expected_of_range or 0.0, 1.0) for one in errors.values()]
    return fmean(found) if found else None


def replaced_shares(evidence: Evidence, policy: Policy) -> list[float]:
    """Return of each perturb column of categories the share of values that others are expected to replace."""
    return [1.0 - kept_share(evidence, policy, name) for name in policy.categorical]


def loss_of(
    policy: Policy,
    granularity: float | None,
    noise: float | None,
    released: float,
    replaced: Sequence[float] = (),
) -> float:
    """Return the mean of what is lost over columns; a record that is not released loses all.

    Args:
        granularity: of the generalized columns, which counts records that are not released already.
        noise: of the perturb columns with numbers.
        replaced: of those with categories, see `replaced_shares`.
    """
    generalized, noisy = len(policy.generalized), len(policy.perturbed)
    changed = noisy + len(replaced)
    moved = (noisy * (noise or 0.0) + math.fsum(replaced)) * released + changed * (1 - released)
    return (generalized * (granularity or 0.0) + moved) / max(1, generalized + changed)
