"""Advice on records that stand out by a number: which the noise of their class, or rounding, does not hide.

Decision: docs/adr/0068-green-is-harder-to-reach-by-mistake.md.
"""

from __future__ import annotations

from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.evidence.outlying_values import outlying_ends, outlying_values
from anon_pipeline.evidence.unconfident_records import unconfident_records
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy

_BOUNDED = (
    "set top or bottom of the column, by general knowledge and not by the data, so that many records share "
    "the bound; or a larger round."
)
_CUT_OFF = (
    "set output_bounds of the column, by general knowledge and not by the data, so that many records share "
    "the bound; or take a larger amount."
)
_LEVELED = (
    "take a recoder that releases levels (ola) and set top or bottom of the column's intervals, by general "
    "knowledge and not by the data: ranges end at the largest and the smallest number of a class."
)
_DATED = (
    "take a recoder that releases levels (ola: years, decades), or leave the record out: ranges end at the "
    "first and the last day of a class."
)


def _without_confidence(policy: Policy) -> Demanded:
    """Advise where noise is added to numbers, and nothing leaves out the records that it does not hide.

    An interval of a low confidence often holds no original at all, and then leaves nothing out. Columns that
    are changed as a whole have no interval.
    """
    confidence = policy.suppress.confidence
    if (
        not policy.perturbed
        or policy.whole_columns
        or (confidence is not None and confidence >= usual.CONFIDENCE)
    ):
        return {}
    return {"": Advised(0)}


def _numbers(policy: Policy) -> Demanded:
    """Advise on sensitive numbers, and on quasi-identifiers that release ranges from the data.

    Of insensitive numbers `rare_values` already counts every rare value.
    """
    names = {*policy.numeric} & policy.sensitive.keys()
    return {name: Advised(0) for name in sorted({*names, *range_columns(policy), *policy.whole_columns})}


def range_columns(policy: Policy) -> set[str]:
    """Name the quasi-identifiers that release ranges of numbers or dates from the data."""
    if recoder_of(policy.anonymize.recoder).family.releases != "ranges":
        return set()
    kinds = {name: hierarchy_kind(column.hierarchy) for name, column in policy.generalized.items()}
    return {name for name, kind in kinds.items() if kind.numbers or kind.days}


def _advice_on(policy: Policy, of: str) -> str:
    if of in policy.whole_columns:
        return _CUT_OFF
    if of not in policy.generalized:
        return _BOUNDED
    return _DATED if hierarchy_kind(policy.generalized[of].hierarchy).days else _LEVELED


def _count_outlying(case: Case, demand: Demand) -> int:
    """Count the released numbers, or ends of ranges, that are far beyond the others."""
    measure = outlying_ends if demand.of in case.policy.generalized else outlying_values
    return measure(case.evidence, demand.of, k=case.policy.gate_k)


UNCONFIDENT_RECORDS = Limit(
    "unconfident_records",
    Words(
        "No original stands alone in its class: the interval that holds its noisy value with a confidence of "
        f"{100 * usual.CONFIDENCE:g} % holds another original of the class, too. Only advice.",
        of_people="No person stands alone in a class: the interval that holds their noisy value with a "
        f"confidence of {100 * usual.CONFIDENCE:g} % holds an original of another person, too. Only advice.",
        advice="set suppress.confidence (0.99), which leaves out records that the noise does not hide; or "
        "give the columns public bounds (sensitivity: declared, input_bounds), by general knowledge and not "
        "by the data; or take a smaller ε.",
        question="singling out",
    ),
    Judged(
        measure=lambda case, demand: unconfident_records(
            case.evidence, case.noises, confidence=usual.CONFIDENCE
        ),
        needs=("originals",),
        people=True,
    ),
    demanded=_without_confidence,
    advisable=True,
)
OUTLYING = Limit(
    "outlying",
    Words(
        "No released number of {}, and no number or day at which a released range of it ends, is far beyond "
        "the others (more than 3 interquartile ranges beyond the quartiles) and reached by fewer than {k} "
        "{counted}, as far as ranges show. Otherwise, an attacker who knows who has the largest or the "
        "smallest value finds that record, or learns that value. Only advice.",
        advice=_BOUNDED,
        advice_for=_advice_on,
        question="singling out",
    ),
    Judged(
        measure=_count_outlying,
        people=True,
    ),
    demanded=_numbers,
    advisable=True,
)
