"""Points of a policy with columns that are changed as a whole: each is released in memory and measured.

What such columns link and lose follows from no distribution (ADR 88). So k and amounts are tried as for equal
risk (ADR 96), and the gate judges each release as if it were the first one. All random words come from a
fixed seed, which no release uses: the same table gives the same points.
Does not belong here: which amounts are tried (`equal_amount`), which point is taken (`choose`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import fmean
from typing import Final, NamedTuple

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.observer import Observer, Step
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.evidence.usefulness import error_of_spread, fully_generalized_columns, kept_share
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS, name_of
from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import GateReport, Verdict
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, perturbed, raw, shuffled, suppressed
from anon_pipeline.stages.private import Chain, Staged
from anon_pipeline.tuning.equal_amount import amounts_of, policies_tried
from anon_pipeline.tuning.grid import Choice, policy_at
from anon_pipeline.tuning.results import Expected, Impossible, Point
from anon_pipeline.tuning.trial_loss import judge_trial, loss_of, noise_of, replaced_shares
from anon_pipeline.utility.comparison import compare
from anon_pipeline.utility.measures import MEASURES
from anon_pipeline.utility.trial import Trial

_SEED: Final = 0  # of whatever is drawn, which no release ever has
_KEY: Final = b"anon-pipeline/tuning"  # of people in memory, as in `recode_input`
_NOT_REVIEWED: Final = "accepted.reviewed"
"""What is warned of every point, since nobody has reviewed it yet."""


class _Source(NamedTuple):
    """What all points are made of: the policy's table without identifiers, and where its files are."""

    before: Staged
    locations: Locations
    observe: Observer


def choices_with_amounts(policy: Policy, choice: Choice) -> list[Choice]:
    """Return a choice with the policy's own amounts and with those that are tried, the smallest first.

    Args:
        choice: k, ε, confidence and recoder.
    """
    tried = policies_tried(policy_at(policy, choice), choice.k)
    amounts = {tuple(amounts_of(one).items()) for one in tried}
    return [choice._replace(amounts=one) for one in sorted(amounts)]


def measure_points(
    policies: Mapping[Choice, Policy], frame: Table, locations: Locations, *, observe: Observer
) -> tuple[list[Point], tuple[Impossible, ...]]:
    """Make a release of each policy in memory, measure it, and let the gate judge it.

    Args:
        policies: by their choices; those with one k and recoder stand together.
        frame: (n, columns) personal data.
        observe: called when a point begins, and now and then with how far a search is.
    Returns:
        The points, and each k and recoder that has no recoding.
    Raises:
        InputError: the data does not fit the policy.
    """
    points, impossible = list[Point](), list[Impossible]()
    before = _without_identifiers(next(iter(policies.values())), frame, locations)
    source = _Source(before, locations, observe)
    for (k, recoder), own in groupby(policies, key=lambda choice: (choice.k, choice.recoder)):
        try:
            points += _points(source, {choice: policies[choice] for choice in own})
        except InfeasibleError as error:
            impossible.append(Impossible(k, recoder, error.reached_k))
    return points, tuple(impossible)


def _without_identifiers(policy: Policy, frame: Table, locations: Locations) -> Staged:
    folder = locations.hierarchies
    accepted = raw(policy, frame, entropy=seeded_entropy(_SEED), key=_KEY, hierarchies=folder)
    return deidentified(policy, accepted, key=_KEY, hierarchies=folder)


def _points(source: _Source, policies: Mapping[Choice, Policy]) -> Iterator[Point]:
    """Yield the points of one recoding.

    Raises:
        InfeasibleError: there is none, or nothing is left of it.
    """
    recoded: Staged | None = None
    for choice, policy in policies.items():
        if recoded is None:
            source.observe(Step(f"{choice.recoder}, k = {choice.k}"))
            recoded = k_anonymized(
                policy, source.before, hierarchies=source.locations.hierarchies, observe=source.observe
            )
        made = _release(policy, recoded, source)
        report = judge_trial(made, source.locations)
        yield Point(choice, _expect(made, report), tuple(_verdicts(report)))


def _release(policy: Policy, recoded: Staged, source: _Source) -> Trial:
    """Make the rest of a release; its words do not depend on the points before."""
    entropy, folder = seeded_entropy(_SEED), source.locations.hierarchies
    memory = None
    if policy.record_key is not None:
        memory = Memory.empty().rehash(memory_key(policy, _KEY))
    mixed = shuffled(policy, perturbed(policy, recoded, entropy=entropy, memory=memory), entropy=entropy)
    chain = Chain(recoded, suppressed(policy, mixed, recoded, hierarchies=folder))
    return Trial(policy, chain, source.before.frame, memory, folder)


def _verdicts(report: GateReport) -> Iterator[Verdict]:
    """Yield what the gate says, but of what holds in every release, and of the review."""
    for verdict in report.verdicts:
        if not limit_of(verdict.limit).forecast.certain and verdict.limit != _NOT_REVIEWED:
            yield verdict


def _expect(made: Trial, report: GateReport) -> Expected:
    """Measure a release: linking by simulated attackers, loss by granularity and by the mean change."""
    evidence, policy = made.evidence(), made.policy
    compared = compare(evidence, policy, unpack_table(made.before))
    errors = MEASURES["noise"].computes(compared)
    noise, released = noise_of(errors), len(evidence.released) / max(1, compared.records)
    granularity = MEASURES["granularity"].computes(compared)
    linking, sizes = mean_linking_risk(evidence, policy), evidence.classes.sizes
    relative = {name: one.expected or 0.0 for name, one in errors.items()}
    return Expected(
        error=fmean(relative.values()) if relative else None,
        error_of_range=noise,
        linking=linking.mean,
        linking_released=linking.mean,
        suppression=1.0 - released,
        suppression_at_most=1.0 - released,
        information_loss=float(made.chain.k_anonymized.facts["k_anonymized"]["information_loss"]),
        loss=loss_of(policy, granularity, noise, released, replaced_shares(evidence, policy)),
        standard_error=(linking.standard_error, 0.0),
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        errors=relative,
        hidden=tuple(fully_generalized_columns(evidence, policy)),
        of_spread={name: error_of_spread(evidence, policy, name) for name in policy.perturbed},
        kept={name: kept_share(evidence, policy, name) for name in policy.categorical},
        linked_categories=_linked_categories(policy, report),
    )


def _linked_categories(policy: Policy, report: GateReport) -> dict[str, float]:
    """Return what the gate's attackers link who know one perturbed category, by its name."""
    found = {verdict.limit: verdict.value for verdict in report.verdicts}
    limits = {name: f"{KNOWN_COLUMNS.name}.{name_of([name])}" for name in policy.categorical}
    return {name: value for name, limit in limits.items() if (value := found.get(limit)) is not None}
