"""Limits on all releases of the same people together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.limits.case import MISSING, Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit, judge_bound
from anon_pipeline.limits.linking import demand_on_release
from anon_pipeline.limits.traits import Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.contradictions import LARGE_EPSILON
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.policy.sections import Budget
from anon_pipeline.stages.history.cross_release import count_newcomers, cross_release_k
from anon_pipeline.stages.history.in_ledger import InLedger
from anon_pipeline.stages.history.sticky import count_redrawn


def _judge_cross_release_k(case: Case, demand: Demand) -> Verdict:
    """Judge the fewest people who match every class that one person of this release was published in.

    Without a memory nothing is known of earlier releases: then only what the policy demands is unmeasured.
    """
    if case.memory is None and not demand.advised:
        missing = MISSING["memory"]
        return Verdict(demand.name, Status.UNMEASURED, None, demand.bound, demand.sense, reason=missing)
    fewest = None if case.memory is None else cross_release_k(case.histories)
    return demand.compare(case.evidence.classes.k if fewest is None else fewest)  # None: nobody was in one


def _judge_sticky(case: Case, demand: Demand) -> Verdict:
    """Judge whether all noise stayed that had to; another run may have published since it was drawn."""
    stays = case.sticky_noise
    anew = count_redrawn(stays.noisy, stays.known, stays.released)
    verdict = judge_bound(demand.name, anew, demand.wanted, demand.sense)
    return replace(verdict, reason="materialize perturbed again") if anew else verdict


def _sticky(policy: Policy) -> Demanded:
    return {"": 0} if policy.perturb is not None and policy.perturb.republish == "sticky" else {}


def _fresh(policy: Policy) -> Demanded:
    fresh = policy.perturb is not None and policy.perturb.republish == "fresh"
    return {"": Advised(None)} if fresh else {}


def _judge_repeated_noise(case: Case, demand: Demand) -> Verdict:
    """Judge whether new noise is drawn for the same people again and again, and no budget ends it.

    By a schedule, or by hand: then the ε of what was published before counts with this release's, where the
    ledger has it. Generated data is about nobody.
    """
    policy = case.policy
    if isinstance(policy, PublicPolicy):
        return Verdict(demand.name, Status.UNMEASURED, reason="needs --policy: a schedule is not public")
    endless = None if policy.source.kind.generated else _endless(policy.budget)
    repeats = None if endless is None else _repeats(policy, case.in_ledger)
    if repeats is None:
        return Verdict(demand.name, Status.PASSED)
    reason = f"{repeats}, and {endless}: {_REVEALS}"
    return Verdict(demand.name, Status.REFUSED, reason=reason)


def endless_schedule(policy: Policy) -> str | None:
    """Say why the schedule of a policy draws new noise for the same people without an end; None: it does not.

    For what is made by the schedule although its policy has none, as the partitions of a divided table.
    """
    if not policy.noisy or policy.source.kind.generated or not _repeats_by_schedule(policy):
        return None
    endless = _endless(policy.budget)
    return None if endless is None else f"{_BY_SCHEDULE}, and {endless}: {_REVEALS}"


def _repeats_by_schedule(policy: Policy) -> bool:
    return policy.schedule is not None and not policy.source.named_partitions()


_BY_SCHEDULE: Final = "the schedule draws new noise for the same source each time"
_REVEALS: Final = "the mean of the releases reveals what the noise hides"


def _repeats(policy: Policy, in_ledger: InLedger) -> str | None:
    """Say what draws new noise again and again; None: nothing is known to."""
    if _repeats_by_schedule(policy):
        return _BY_SCHEDULE
    together = None if policy.noise_epsilon is None else in_ledger.epsilon_with(policy.noise_epsilon)
    if together is None or together <= LARGE_EPSILON:
        return None
    return (
        f"with this release, the releases of {policy.dataset or policy.name} have new noise of "
        f"ε = {float(together):g} together"
    )


def _endless(budget: Budget | None) -> str | None:
    """Say why a budget does not end what adds up in time; None if it does."""
    if budget is None:
        return "no budget ends it"
    if budget.window is not None:
        return "the budget forgets what was spent before its window"
    if budget.epsilon > LARGE_EPSILON:
        return f"the budget allows more than ε = {LARGE_EPSILON} in all"
    return None


def _count_newcomers(case: Case, demand: Demand) -> int:
    """Count the people whose values a comparison with an earlier release shows; 0 where none is known."""
    return 0 if case.memory is None else count_newcomers(case.histories, k=case.policy.gate_k)


def _with_earlier_ones(policy: Policy) -> Demanded:
    """Return the policy's own bound; without one, as advice, that all releases together keep the gate's k."""
    own = policy.gate.cross_release_k
    if own is not None or policy.record_key is None:
        return demand_on_release(own)
    return {"": Advised(policy.gate_k)}


def _comparable(policy: Policy) -> Demanded:
    return {"": Advised(0)} if policy.record_key is not None and policy.unchanged else {}


def _judge_earlier_release(case: Case, demand: Demand) -> Verdict:
    """Judge whether the ledger has releases of the dataset that have other rows, and that nothing compares.

    A release with the same rows tells nothing new. One of which the ledger does not know the rows may have
    others. Generated data is about nobody. Another dataset may have the same people, too, unless the policy
    says which dataset this is.
    """
    policy = case.policy
    if isinstance(policy, PublicPolicy):
        return Verdict(demand.name, Status.UNMEASURED, reason="needs --policy: a source is not public")
    reason = "; ".join(chain(_said_of_uncompared(case, policy), _said_of_datasets(case, policy))) or None
    return Verdict(demand.name, Status.PASSED if reason is None else Status.REFUSED, reason=reason)


def _said_of_uncompared(case: Case, policy: Policy) -> Iterator[str]:
    others = frozenset[str | None]() if policy.source.kind.generated else case.in_ledger.rows
    if not others or others == {canonical_form(case.release[policy.released]).digest}:
        return
    unkeyed = ", which was made without record_key or under another name"
    compared = "" if policy.record_key is None else unkeyed
    yield (
        f"the ledger has another release of {policy.dataset or policy.name}{compared}: whoever compares the "
        "two may learn the values of people who joined or left between them, and more about everybody if "
        "their columns differ"
    )


def _said_of_datasets(case: Case, policy: Policy) -> Iterator[str]:
    if case.in_ledger.same_columns and policy.dataset is None:
        yield (
            "the ledger has a release of another dataset, of a source with the same columns: if these are "
            f"the same people, set dataset to that dataset; if not, write dataset: {policy.name}"
        )


CROSS_RELEASE_K = Limit(
    "cross_release_k",
    Words(
        "Over all releases, at least this many people match every class that any one person was "
        "published in.",
        advice="keep quasi-identifiers, hierarchies and recoder as they were, so that the same people are in "
        "the same classes; or take a larger k, and set gate.cross_release_k to the smallest number that you "
        "accept, 2 or more.",
        question="linkability",
    ),
    Judged(judge=_judge_cross_release_k, sense="at least", needs=("originals",), regards=("memory",)),
    demanded=_with_earlier_ones,
    advisable=True,
    expectation="expect_releases_together_to_be_k_anonymous",
    published=Published(
        together=True,
        promise=lambda demand: (
            f"For each person, at least {demand.wanted} persons, that one included, were in the same class "
            f"in every release made with a record key that the person was in."
        ),
    ),
)
STICKY = Limit(
    "sticky",
    Words(
        "What was published before and has not changed has the same noise.",
        advice="nothing in the policy has to change: make the release again, from the noise on.",
    ),
    Judged(judge=_judge_sticky, needs=("originals", "memory")),
    demanded=_sticky,
    expectation="expect_release_to_keep_published_noise",
)
REPEATED_NOISE = Limit(
    "repeated_noise",
    Words(
        "New noise is not drawn for the same people without an end, by a schedule or by hand: the mean of "
        "the releases would reveal what it hides. Only advice.",
        advice="set a budget of at most ε = 10 without a window, put {partition} into the source if each "
        "period has people of its own, or let published noise stay (perturb.republish: sticky). If more is "
        "spent already, a budget of what is spent ends it.",
        question="linkability",
    ),
    Judged(judge=_judge_repeated_noise, bound=lambda wanted: None, regards=("memory",)),
    demanded=_fresh,
    expectation="",
    advisable=True,
    published=Published(valued=False),
)
NEWCOMERS = Limit(
    "newcomers",
    Words(
        "No class differs from the same class of an earlier release by fewer than {k} people who joined it, "
        "or who left it: who compares both releases learns the values of so few. Only advice.",
        advice="publish so rarely that many people join or leave each class, publish the new people as a "
        "release of their own ({partition} in the source), or release no column as it is.",
        question="inference",
    ),
    Judged(measure=_count_newcomers, needs=("originals",), regards=("memory",)),
    demanded=_comparable,
    expectation="",
    advisable=True,
)
EARLIER_RELEASE = Limit(
    "earlier_release",
    Words(
        "The ledger has no other release of this dataset with other records or columns, except those that "
        "newcomers compares with this one; and none of another dataset with the same columns, if the policy "
        "does not set dataset. Whoever compares two releases learns more than from either. Only advice.",
        advice="if another dataset has the same people, set dataset to it. Set record_key to the column that "
        "identifies a person: from then on, releases of the same name are compared (newcomers, "
        "gate.cross_release_k); releases made without it stay uncompared. If each period has people of its "
        "own, put {partition} into the source; only if no person is in both, give dataset another name.",
        question="inference",
    ),
    Judged(
        judge=_judge_earlier_release, bound=lambda wanted: None, needs=("originals",), regards=("memory",)
    ),
    demanded=lambda policy: {"": Advised(None)},
    expectation="",
    advisable=True,
    published=Published(valued=False),
)
