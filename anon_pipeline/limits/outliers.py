"""Advice on records that stand out by a number: which the noise of their class, or rounding, does not hide.

Decision: docs/adr/0068-green-is-harder-to-reach-by-mistake.md.
"""

from __future__ import annotations

from anon_pipeline.evidence.outlying_values import outlying_values
from anon_pipeline.evidence.unconfident_records import unconfident_records
from anon_pipeline.limits import usual
from anon_pipeline.limits.limit import Advised, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.policy.model import Policy


def _without_confidence(policy: Policy) -> Demanded:
    """Advise where noise is added to numbers, and nothing leaves out the records that it does not hide.

    An interval of a low confidence often holds no original at all, and then leaves nothing out.
    """
    confidence = policy.suppress.confidence
    if not policy.perturbed or (confidence is not None and confidence >= usual.CONFIDENCE):
        return {}
    return {"": Advised(0)}


def _sensitive_numbers(policy: Policy) -> Demanded:
    """Advise on sensitive numbers; of insensitive ones `rare_values` already counts every rare value."""
    return {name: Advised(0) for name in sorted({*policy.numeric} & policy.sensitive.keys())}


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
        "No record has a number of {} that is far beyond the others (more than 3 interquartile ranges beyond "
        "the quartiles) and that fewer than {k} {counted} reach: an attacker who knows whose is the largest "
        "or the smallest finds that record. Only advice.",
        advice="set top or bottom of the column, by general knowledge and not by the data, so that many "
        "records share the bound; or a larger round.",
        question="singling out",
    ),
    Judged(
        measure=lambda case, demand: outlying_values(case.evidence, demand.of, k=case.policy.gate_k),
        people=True,
    ),
    demanded=_sensitive_numbers,
    advisable=True,
)
