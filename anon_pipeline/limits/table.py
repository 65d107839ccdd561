"""The table of all limits, in the order in which they are judged and shown.

A new limit is one entry in one of the modules that are imported here, and its place in `LIMITS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import LimitKey
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.plugins import table_of
from anon_pipeline.limits.accepted_risks import ACCEPTED
from anon_pipeline.limits.class_values import (
    HIDDEN_HOMOGENEITY,
    NEAR_HOMOGENEITY,
    SPELLINGS,
    TOLD_ORIGINALS,
    TOLD_SECRETS,
)
from anon_pipeline.limits.classes import HOMOGENEITY, L_DIVERSITY, SIMILARITY, SKEWNESS, T_CLOSENESS
from anon_pipeline.limits.found_groups import FOUND_GROUPS
from anon_pipeline.limits.joint_values import JOINT_HOMOGENEITY, LIST_CELLS, UNION_HOMOGENEITY
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.linking import (
    ASSIGNMENT_RISK,
    ATTACKER_SUCCESS,
    AVERAGING,
    CONFIDENCE_K,
    EXPECTED_LINKING_RISK,
    LINKAGE,
    LINKING_RISK,
    SUPPRESSION,
)
from anon_pipeline.limits.meanings import bound_text, limits_nothing, meaning_of
from anon_pipeline.limits.outliers import OUTLYING, UNCONFIDENT_RECORDS
from anon_pipeline.limits.releases import CROSS_RELEASE_K, EARLIER_RELEASE, NEWCOMERS, REPEATED_NOISE, STICKY
from anon_pipeline.limits.roles import (
    NAMED_PEOPLE,
    RARE_TEXTS,
    RARE_TOGETHER,
    RARE_VALUES,
    RELEASED_IDENTIFIERS,
    SINGLE_VALUE,
)
from anon_pipeline.limits.safe_harbor import SAFE_HARBOR
from anon_pipeline.limits.several_records import DOMINANCE, PERSON_HOMOGENEITY
from anon_pipeline.limits.sizes import (
    MARKETER_RISK,
    MINIMAL_UNIQUES,
    POPULATION,
    PROSECUTOR_RISK,
    SAMPLE_UNIQUES,
)
from anon_pipeline.limits.structure import CONTRACT, ORIGIN, REPEATED_PEOPLE, K
from anon_pipeline.limits.usefulness import (
    CLIPPED,
    ERROR_OF_SPREAD,
    FULLY_GENERALIZED,
    INFORMATION_LOSS,
    KEPT_CATEGORIES,
    LOST_VALUES,
    RECORDS_BEYOND,
    RELATIVE_ERROR,
    SHARE_RELEASED,
)
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.policy.model import Policy

_OWN = (
    CONTRACT,
    ORIGIN,
    K,
    RELEASED_IDENTIFIERS,
    SINGLE_VALUE,
    TOLD_SECRETS,
    TOLD_ORIGINALS,
    NAMED_PEOPLE,
    RARE_VALUES,
    RARE_TOGETHER,
    RARE_TEXTS,
    OUTLYING,
    SAFE_HARBOR,
    T_CLOSENESS,
    L_DIVERSITY,
    SPELLINGS,
    LIST_CELLS,
    LINKING_RISK,
    SUPPRESSION,
    CONFIDENCE_K,
    UNCONFIDENT_RECORDS,
    ATTACKER_SUCCESS,
    ASSIGNMENT_RISK,
    EXPECTED_LINKING_RISK,
    AVERAGING,
    LINKAGE,
    HOMOGENEITY,
    PERSON_HOMOGENEITY,
    DOMINANCE,
    NEAR_HOMOGENEITY,
    HIDDEN_HOMOGENEITY,
    JOINT_HOMOGENEITY,
    UNION_HOMOGENEITY,
    SKEWNESS,
    SIMILARITY,
    PROSECUTOR_RISK,
    MARKETER_RISK,
    SAMPLE_UNIQUES,
    MINIMAL_UNIQUES,
    POPULATION,
    CROSS_RELEASE_K,
    STICKY,
    REPEATED_NOISE,
    NEWCOMERS,
    EARLIER_RELEASE,
    KNOWN_COLUMNS,
    FOUND_GROUPS,
    INFORMATION_LOSS,
    RELATIVE_ERROR,
    ERROR_OF_SPREAD,
    KEPT_CATEGORIES,
    FULLY_GENERALIZED,
    SHARE_RELEASED,
    LOST_VALUES,
    CLIPPED,
    RECORDS_BEYOND,
    REPEATED_PEOPLE,
    ACCEPTED,
)


def _of_plugins() -> Iterator[Limit]:
    """Yield the limits of plugins, which are judged after all others.

    Raises:
        PluginError: one that is no limit, has another name than its key, decides itself when it is judged, or
            takes the expectation of another limit.
    """
    taken = {limit.expectation_name for limit in _OWN} - {""}
    for key in table_of("limits", LimitKey, (), taken={limit.name for limit in _OWN}).values():
        try:
            limit: Limit = import_entry(key.limit, Limit)
        except PluginError as error:
            raise PluginError(f"the limit {key.name}: {error}") from None
        if limit.name != key.name or limit.demanded is not None or limit.always or limit.attack:
            raise PluginError(
                f"the limit {key.name} must have the name of its key, and must leave demanded, always and "
                "attack out: its key says that. Correct the plugin."
            )
        if limit.of_policy or limit.published.by_version:
            raise PluginError(
                f"the limit {key.name} must leave of_policy and by_version out: by them diff and verify pass "
                "a limit over. Correct the plugin."
            )
        if limit.expectation_name in taken:
            raise PluginError(
                f"the limit {key.name} must have an expectation of its own, got {limit.expectation_name}. "
                "Correct the plugin."
            )
        taken |= {limit.expectation_name} - {""}
        yield limit


LIMITS: tuple[Limit, ...] = (*_OWN, *_of_plugins())
_BY_NAME = {limit.name: limit for limit in LIMITS}


def demands(policy: Policy) -> Iterator[Demand]:
    """Yield what a policy demands, in the order in which it is judged."""
    for limit in LIMITS:
        yield from limit.demands(policy)


def limits_of(policy: Policy) -> list[str]:
    """Name the limits of a policy in the order in which the gate judges them."""
    return [demand.name for demand in demands(policy)]


def names_where(holds: Callable[[Limit], bool]) -> tuple[str, ...]:
    """Name the limits with a trait, in the table's order."""
    return tuple(limit.name for limit in LIMITS if holds(limit))


def unlimited_secrets(policy: Policy) -> list[str]:
    """Name the sensitive columns of which the policy limits nothing that a class reveals."""
    asked = (one for one in demands(policy) if not one.advised)
    bounded = {
        one.name.partition(".")[2] for one in asked if limit_of(one.name).words.question == "inference"
    }
    return [name for name in policy.sensitive if name not in bounded]


def limit_of(name: str) -> Limit:
    """Return the kind of a limit.

    Args:
        name: as `limits_of` has it: ``k``, ``t_closeness.salary``.
    Raises:
        KeyError: there is none of this name.
    """
    return _BY_NAME[name.partition(".")[0]]


def limit_meaning(name: str, policy: Policy | None = None) -> str:
    """Say in one sentence what a limit demands; see `limit_of` and `meanings.meaning_of`."""
    return meaning_of(limit_of(name), name.partition(".")[2], policy)


def advice_on(name: str, policy: Policy | None = None) -> str:
    """Say what to change in a policy where a limit is not kept; empty where tuning can judge it.

    Args:
        name: as `limits_of` has it. policy: None: of any.
    """
    limit = limit_of(name)
    if policy is None or limit.words.advice_for is None:
        return limit.words.advice
    return limit.words.advice_for(policy, name.partition(".")[2])


def next_step(verdict: Verdict, policy: Policy | None = None) -> str:
    """Say what to do about a limit that is not kept, or that warns."""
    return advice_on(verdict.limit, policy) or "compare smaller ε and larger k: anon-pipeline tune POLICY."


def demanded_by(verdict: Verdict, policy: Policy | None = None) -> str:
    """Say the bound of a verdict, also of one that is on no limit; ``no limit`` where every value passes.

    Args:
        verdict: of the gate, or of `verify`, which writes ``gate.`` before the names of limits.
        policy: None: of any; else it is said where only a part of the limit can be judged for it.
    """
    return bound_text(verdict, _limit_named(verdict), policy)


def outcome_of(verdict: Verdict) -> str:
    """Say how a verdict ended: its status, or ``measured only`` where every value passes.

    Args:
        verdict: as of `demanded_by`.
    """
    return verdict.outcome(free=_is_free(verdict))


def verdict_text(verdict: Verdict, *, at_hand: bool = False) -> str:
    """Say a verdict in one line as `Verdict.as_text` does; a bound that lets every value pass is no limit."""
    return verdict.as_text(at_hand=at_hand, free=_is_free(verdict))


def _is_free(verdict: Verdict) -> bool:
    limit = _limit_named(verdict)
    return limit is not None and limits_nothing(verdict, limit)


def _limit_named(verdict: Verdict) -> Limit | None:
    return _BY_NAME.get(verdict.limit.removeprefix("gate.").partition(".")[0])
