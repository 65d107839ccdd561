"""Limits on what a release may lose: a policy sets them, or a release beyond the defaults has a warning.

The defaults are argued in docs/adr/0049-a-release-must-be-worth-something.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import OF_CELLS, recoder_of
from anon_pipeline.evidence.lost_values import lost_columns
from anon_pipeline.evidence.measures import suppression
from anon_pipeline.evidence.usefulness import (
    error_of_spread,
    fully_generalized_columns,
    kept_share,
    relative_error,
)
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.records import KAnonymizedFacts

LOSS = 0.8
"""Information loss of the recoding, in [0, 1], from which on a release has a warning."""

ERROR = 1.0
"""Expected error of a perturb column, as a multiple of the value, beyond which a release has a warning."""

SPREAD_ERROR = 2.0
"""Expected error of a perturb column, as a multiple of its spread, beyond which a release has a warning."""

HIDDEN = 0
"""Generalized columns of which nothing is left in the release beyond which a release has a warning."""

RELEASED = 0.8
"""Share of the input below which a release has a warning."""

CLIPPED_SHARE = 0.25
"""Share of a column's values beyond its public bounds, from which on a release has a warning."""

EXCESS = 0.25
"""Share of the input's records beyond rows_per_person above which a release has a warning."""

KEPT = 0.25
"""Share of a drawn column's values that are expected to be kept, below which a release has a warning."""

_MORE = "use fewer quasi-identifiers, hierarchies with more levels, or a recoder of ranges"
_FINER = f"{_MORE}; or take a smaller k."
REHEARSE = "anon-pipeline rehearse POLICY tries what helps."
"""Ends advice on the recoding; a rehearsal has tried it."""


def _finer(policy: Policy, of: str) -> str:
    """Advise what this policy can change; no k below the usual one, which would have a warning of its own."""
    wanted, most = policy.anonymize, policy.gate.suppression
    ways = [_MORE]
    if wanted.suppression_limit < (1 - RELEASED if most is None else most):
        ways.append("or a larger anonymize.suppression_limit")
    if recoder_of(wanted.recoder).family.cells and wanted.suppress != "cells":
        ways.append(f"or anonymize.recoder: {OF_CELLS} with anonymize.suppress: cells")
    if policy.gate_k > usual.SMALLEST_K:
        ways.append("or take a smaller k")
    return f"{'; '.join(ways)}. {REHEARSE}"


_CLOSER = "take a smaller amount, or another mechanism; or generalize the column."
_COARSER = (
    "group the column's values into fewer ones before the release, generalize it, or drop it; or take "
    "another mechanism."
)
_KEEP_MORE = (
    "group the column's values into fewer ones before the release, generalize the column, or drop "
    "it; perturb fewer columns, so that each has more of ε. A larger ε last: more values then stay as "
    "they are, and the noise hides less of everybody."
)
_BOUNDS = (
    "give the column public bounds that end its tails (sensitivity: declared, input_bounds), by general "
    "knowledge and not by the data; perturb fewer columns, so that each has more of ε; or generalize the "
    "column. A larger ε last: the promise is weaker, and more records can be linked."
)
_NARROWER = (
    "give the column narrower public bounds by general knowledge, generalize it, or drop it. A larger ε "
    "last: the noise then hides less of everybody."
)


def _or_advised(wanted: Any, default: float) -> Any:
    return Advised(default) if wanted is None else wanted


def _errors(policy: Policy) -> Demanded:
    own: Mapping[str, float] = policy.gate.utility.relative_error
    return {name: _or_advised(own.get(name), ERROR) for name in sorted(policy.perturbed)}


def _spread_errors(policy: Policy) -> Demanded:
    own: Mapping[str, float] = policy.gate.utility.error_of_spread
    return {name: own[name] if name in own else Advised(SPREAD_ERROR) for name in sorted(policy.perturbed)}


def _excess(policy: Policy) -> Demanded:
    if policy.rows_per_person is None:
        return {}
    own = policy.gate.utility.excess
    return {"": Advised(EXCESS) if own is None else own}


def _share_demands(policy: Policy) -> Demanded:
    own: Mapping[str, float] = policy.gate.utility.clipped
    return {name: own[name] if name in own else Advised(CLIPPED_SHARE) for name in policy.public_bounds}


def _clipped_share(case: Case, demand: Demand) -> float:
    """Return what was counted before the bounds were applied; the facts are judged by `origin`."""
    if case.facts is None:
        raise InputError("needs the facts of the stages")
    return float(case.facts["deidentified"]["clipped"][demand.of])


def _excess_share(case: Case, demand: Demand) -> float:
    """Return the share of the input that was left out beyond rows_per_person; `origin` judges the facts."""
    if case.facts is None:
        raise InputError("needs the facts of the stages")
    return float(case.facts["deidentified"]["excess_records"] / max(case.facts["raw"]["records"], 1))


def _information_loss(case: Case, demand: Demand) -> float:
    """Return what the recoding recorded; the facts are those of the tables, which `origin` judges."""
    if case.facts is None:
        raise InputError("needs the facts of the stages")
    return float(case.facts["k_anonymized"]["information_loss"])


def _judge_lost_values(case: Case, demand: Demand) -> Verdict:
    """Name the columns of which the recoding, or what was left out later, lost a category."""
    found = (case.facts or {}).get(KAnonymizedFacts.stage, {}).get("lost")
    if found is None:
        return Verdict(demand.name, Status.UNMEASURED, reason="needs the facts of the stages")
    names = list(dict.fromkeys((*found, *lost_columns(case.evidence, case.policy))))
    said = f"a category of these columns is left out as a whole: {', '.join(names)}" if names else None
    return Verdict(demand.name, Status.REFUSED if said else Status.PASSED, reason=said)


INFORMATION_LOSS = Limit(
    "utility_information_loss",
    Words(
        "Generalization loses at most this share of the information in the quasi-identifiers.",
        advice=_FINER,
        advice_for=_finer,
    ),
    Judged(measure=_information_loss, needs=("originals",)),
    demanded=lambda policy: {"": _or_advised(policy.gate.utility.information_loss, LOSS)},
    advisable=True,
    usefulness="recoding",
    expectation="",
    forecast=Forecast(value=lambda expected, policy: expected.information_loss),
)
RELATIVE_ERROR = Limit(
    "utility_relative_error",
    Words(
        "The noise is expected to move {} by at most this multiple of its value, on average.",
        advice=_BOUNDS,
        advice_for=lambda policy, of: _CLOSER if of in policy.whole_columns else _BOUNDS,
    ),
    Judged(
        measure=lambda case, demand: relative_error(case.evidence, case.policy, demand.of),
        needs=("originals",),
    ),
    demanded=_errors,
    advisable=True,
    usefulness="noise",
    forecast=Forecast(of_column=lambda expected, column: expected.errors.get(column, 0.0)),
)
ERROR_OF_SPREAD = Limit(
    "utility_error_of_spread",
    Words(
        "The noise is expected to move {} by at most this multiple of what its values differ by (its "
        "standard deviation), on average.",
        advice=_NARROWER,
        advice_for=lambda policy, of: _CLOSER if of in policy.whole_columns else _NARROWER,
    ),
    Judged(
        measure=lambda case, demand: error_of_spread(case.evidence, case.policy, demand.of),
        needs=("originals",),
    ),
    demanded=_spread_errors,
    advisable=True,
    usefulness="noise",
    forecast=Forecast(of_column=lambda expected, column: expected.of_spread.get(column, 0.0)),
)
FULLY_GENERALIZED = Limit(
    "utility_fully_generalized",
    Words(
        "At most this many quasi-identifiers are fully generalized: one value in the whole release, or "
        "hidden in at least 95 % of its records.",
        advice=_FINER,
        advice_for=_finer,
    ),
    Judged(measure=lambda case, demand: len(fully_generalized_columns(case.evidence, case.policy))),
    demanded=lambda policy: {"": _or_advised(policy.gate.utility.fully_generalized, HIDDEN)},
    advisable=True,
    usefulness="recoding",
    forecast=Forecast(value=lambda expected, policy: expected.constant),
)
LOST_VALUES = Limit(
    "utility_lost_values",
    Words(
        "No category that {k} or more {counted} have is missing from the release, because all of them were "
        "left out: readers would think that there are none. Only advice.",
        advice="group such categories with others before the release or in the hierarchy, or take a smaller "
        "k, or another recoder, so that less is left out.",
    ),
    Judged(judge=_judge_lost_values, bound=lambda wanted: None, needs=("originals",)),
    demanded=lambda policy: {"": Advised(None)},
    advisable=True,
    usefulness="recoding",
    expectation="",
    published=Published(valued=False),
)
SHARE_RELEASED = Limit(
    "utility_released",
    Words(
        "At least this share of the input is released.",
        of_people="At least this share of the people is released with all of their records, not counting "
        "records beyond rows_per_person.",
        advice="take a smaller k, a smaller confidence, or another recoder, so that less is left out.",
    ),
    Judged(
        measure=lambda case, demand: 1.0 - suppression(case.evidence), sense="at least", needs=("originals",)
    ),
    demanded=lambda policy: {"": _or_advised(policy.gate.utility.released, RELEASED)},
    advisable=True,
    usefulness="noise",
    forecast=Forecast(value=lambda expected, policy: 1.0 - expected.suppression_judged),
)
KEPT_CATEGORIES = Limit(
    "utility_kept",
    Words(
        "At least this share of the values of {} is expected to be released as it is, the others as a value "
        "drawn at random.",
        advice=_KEEP_MORE,
        advice_for=lambda policy, of: _COARSER if of in policy.changed_categories else _KEEP_MORE,
    ),
    Judged(
        measure=lambda case, demand: kept_share(case.evidence, case.policy, demand.of),
        sense="at least",
        needs=("originals",),
    ),
    demanded=lambda policy: {name: Advised(KEPT) for name in sorted(policy.categorical)},
    advisable=True,
    usefulness="noise",
)
CLIPPED = Limit(
    "utility_clipped",
    Words(
        "At most this share of the values of {} lies beyond its public bounds.",
        advice="widen the bounds (input_bounds, output_bounds, bottom, top), by general knowledge and not by "
        "the data. Or accept a larger share in gate.utility.clipped.",
    ),
    Judged(measure=_clipped_share, needs=("originals",)),
    demanded=_share_demands,
    advisable=True,
    usefulness="recoding",
    expectation="",
)
RECORDS_BEYOND = Limit(
    "utility_excess",
    Words(
        "At most this share of the input's records is left out because they are beyond rows_per_person.",
        advice="take a larger rows_per_person, or release one record for each person, with the sums or "
        "averages that readers need. Or accept a larger share in gate.utility.excess.",
    ),
    Judged(measure=_excess_share, needs=("originals",)),
    demanded=_excess,
    advisable=True,
    usefulness="recoding",
    expectation="",
)
