"""What becomes of a table by each of several policies: risk, loss and the gate's verdict, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Literal

from anon_pipeline.base.errors import (
    AnonPipelineError,
    InfeasibleError,
    InputError,
    PolicyError,
    private_stage,
)
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table, unpack_table, with_text_names
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.gate import GateReport, Status
from anon_pipeline.limits.changes import compare_policies
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.protection import Effect
from anon_pipeline.stages.class_column import without_classes
from anon_pipeline.tuning.equal_amount import amounts_of, find_amounts, goal_of_release
from anon_pipeline.tuning.equal_risk import Goal, Pair, find_pair, goal_of
from anon_pipeline.tuning.recode_input import input_to_recode
from anon_pipeline.tuning.trial_loss import judge_trial, loss_of, noise_of, replaced_shares
from anon_pipeline.tuning.tune import source_of
from anon_pipeline.tuning.variants import Variant
from anon_pipeline.utility.results import Utility, utility
from anon_pipeline.utility.trial import make_trial, trial_means

_NOT_REVIEWED: Final = "accepted.reviewed"
"""What is warned of every variant, since nobody has reviewed it yet."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a release by one policy would be.

    passes: whether the gate would pass it. refused, warned: limits that it does not keep, or warns of.
    released: share of the records of the input.
    classes, smallest_class: of the release, in records.
    linking: share of the released records whose own original is the nearest one, its mean over the noise;
        without noise classes/records.
    loss: share of what the quasi-identifiers say that is lost: 1 for a record that is not released, else the
        mean over columns of granularity, of the noise over the column's range (at most 1), and of the share
        of categories that are expected to be replaced.
    score: the SDC score, the mean of linking and loss [DB 2.7].
    granularity: of the generalized columns. noise: mean expected error over the column's range, of the
        columns with noise, each at most 1. None without such columns.
    correlations, propensity, queries, classifier: of `utility.measures`; the median error of a count, and the
        accuracy of a model trained on the input minus that of one trained on the release.
    seconds: that the release took, without the gate and measuring.
    """

    passes: bool
    refused: tuple[str, ...]
    warned: tuple[str, ...]
    released: float
    classes: int
    smallest_class: int
    linking: float
    loss: float
    score: float
    granularity: float | None
    noise: float | None
    correlations: float | None
    propensity: float | None
    queries: float | None
    classifier: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A variant, and what becomes of the table by it.

    outcome: None where no release can be made. problem: why not; empty if there is one.
    k, epsilon, amounts: of its policy; others than were asked for where they were chosen for equal risk or
        loss. ε is None without noise of a scale; amounts are those of columns that are changed as a whole.
    weakens: whether the change weakens protection, as `limits.changes.compare_policies` has it.
    """

    name: str
    outcome: Outcome | None
    problem: str = ""
    k: int | None = None
    epsilon: float | None = None
    amounts: Mapping[str, float] = field(default_factory=dict)
    weakens: bool = False


def measure_variants(
    variants: Sequence[Variant],
    locations: Locations,
    *,
    partition: str | None = None,
    equal: Literal["risk", "loss"] | None = None,
    observe: Observer = ignore,
) -> Iterator[Measured]:
    """Make a release of the same table by each policy, measure it, and throw it away.

    Nothing is published, written or spent; earlier releases are ignored, and so is the ledger.

    Args:
        variants: the first one is that of the source.
        equal: whether k and ε of each of the others are chosen, and by what, see `equal_risk.find_pair`; of
            columns that are changed as a whole k and amounts, see `equal_amount.find_amounts`.
        observe: called when a variant begins, and now and then with how far a search is.
    Raises:
        InputError: the source cannot be read, or the table does not fit the policy.
        InfeasibleError: with ``equal``, the policy itself has no recoding.
    """
    base = variants[0].policy
    assert base is not None  # noqa: S101 - it was read from a file
    if equal == "loss":
        _refuse_other_loss(base)
    frame = source_of(base, locations, partition=partition)
    goal = None if equal is None else _goal_of(equal, base, frame, locations)
    for variant in variants:
        observe(Step(variant.name))
        policy = variant.policy
        if policy is None:
            yield Measured(variant.name, None, variant.problem)
            continue
        try:
            if policy is not base:
                locations.confine(policy, partition)
                refuse_below_defaults(policy, *filter(None, [locations.project]))
            if equal == "loss":
                _refuse_other_loss(policy)
            if goal is not None and policy is not base:
                policy = _find_pair(policy, _table_for(policy, base, frame), locations, goal).policy
            found = _measure(policy, _table_for(policy, base, frame), locations, observe)
        except (InputError, PolicyError, InfeasibleError) as error:
            if policy is base and not isinstance(error, InfeasibleError):
                raise  # the data does not fit, whatever the variant
            yield Measured(variant.name, None, _problem(error))
            continue
        weakens = compare_policies(base, policy).effect is Effect.WEAKENS
        yield Measured(
            variant.name,
            found,
            k=policy.anonymize.k,
            epsilon=policy.noise_epsilon,
            amounts=amounts_of(policy),
            weakens=weakens,
        )


def _refuse_other_loss(policy: Policy) -> None:
    """Refuse to make equal what the table of variants does not show: its loss is that of granularity."""
    if policy.anonymize.loss != "granularity":
        raise InputError(
            f"anonymize.loss must be granularity for --equal-loss, got {policy.anonymize.loss}: loss is "
            "compared by granularity"
        )


def _problem(error: AnonPipelineError) -> str:
    """Say why there is no release, without what was measured."""
    if isinstance(error, InfeasibleError):
        return str(error).removesuffix(" On a terminal, --show-values says by how much.")
    return str(error)


def _table_for(policy: Policy, base: Policy, frame: Table) -> Table:
    """Return the table for a variant: without the column of classes that only the policy itself names."""
    return frame if policy.anonymize.classes is not None else without_classes(base, with_text_names(frame))


def _goal_of(equal: Literal["risk", "loss"], policy: Policy, frame: Table, locations: Locations) -> Goal:
    """Return the goal to link, or to lose, no more than a policy does as it is."""
    held: Literal["linking", "loss"] = "linking" if equal == "risk" else "loss"
    if policy.changed_columns:
        return goal_of_release(held, policy, frame, locations)
    with private_stage(f"equal {equal}"):
        before = input_to_recode(policy, frame, hierarchies=locations.hierarchies)
        return goal_of(held, policy, before, locations.hierarchies)


def _find_pair(policy: Policy, frame: Table, locations: Locations, goal: Goal) -> Pair:
    """Find a policy's best k and ε, or k and amounts, that keep a goal.

    Raises:
        InputError: there are none.
    """
    if policy.changed_columns:
        found, chosen = find_amounts(policy, frame, goal, locations), "k and amount"
    else:
        with private_stage(f"equal {'risk' if goal.held == 'linking' else 'loss'}"):
            before = input_to_recode(policy, frame, hierarchies=locations.hierarchies)
            found, chosen = find_pair(policy, before, goal, hierarchies=locations.hierarchies), "k and ε"
    if found is None:
        does = "links more records" if goal.held == "linking" else "loses more"
        raise InputError(f"{does} than the policy, whatever its {chosen}")
    return found


def _measure(policy: Policy, frame: Table, locations: Locations, observe: Observer) -> Outcome:
    """Make a release, let the gate judge it, and measure it."""
    start = monotonic()
    made = make_trial(policy, frame, trial_means(policy, locations, observe=_of_searches(observe)))
    seconds = monotonic() - start
    report = judge_trial(made, locations)
    with private_stage("utility"):
        evidence = made.evidence()
        found = utility(evidence, policy, unpack_table(made.before))
        return _outcome(policy, report, evidence, found, seconds)


def _of_searches(observe: Observer) -> Observer:
    """Return an observer of what is searched alone, not of each stage."""
    return lambda event: None if isinstance(event, Step) else observe(event)


def _outcome(
    policy: Policy, report: GateReport, evidence: Evidence, found: Utility, seconds: float
) -> Outcome:
    noise = noise_of(found.noise)
    released = found.released / max(1, found.records)
    sizes = evidence.classes.sizes
    warned = [verdict.limit for verdict in report.with_status(Status.WARNED)]
    linking = mean_linking_risk(evidence, policy).mean
    loss = loss_of(policy, found.granularity, noise, released, replaced_shares(evidence, policy))
    return Outcome(
        passes=report.passed,
        refused=tuple(verdict.limit for verdict in report.unkept),
        warned=tuple(one for one in warned if one != _NOT_REVIEWED),
        released=released,
        classes=found.classes,
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        linking=linking,
        loss=loss,
        score=(linking + loss) / 2,
        granularity=found.granularity,
        noise=noise,
        correlations=found.moments.correlations if found.moments is not None else None,
        propensity=found.propensity,
        queries=found.queries.median if found.queries is not None else None,
        classifier=None if found.classifier is None else found.classifier.original - found.classifier.release,
        seconds=seconds,
    )
