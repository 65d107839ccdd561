"""Which limits of the gate can be judged before anything is drawn, and how they are.

Belongs here: from expectations to verdicts. Does not belong here: the gate itself, which alone judges a
release (`gate`).

Certain: ``k``, ``confidence_k``, ``attacks.prosecutor_risk``; t-closeness and
l-diversity hold in what is released, because classes beyond them are left out, which the suppression counts.
On expectation: ``linking_risk`` and ``attacks.expected_linking_risk``, as the gate judges them;
``suppression``, and with ``gate.linking: realized`` the linking risk: of a point that just keeps such a
limit, half of the releases do not keep it.
"""

from __future__ import annotations

from collections.abc import Iterator

from anon_pipeline.evidence.expected import STANDARD_ERRORS
from anon_pipeline.gate.judge import limits_of
from anon_pipeline.limits.comparing import bounded
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.tuned import Expected

__all__ = ["JUDGED", "limits_linking", "unjudged", "verdicts"]

_CERTAIN = ("contract", "origin", "t_closeness.", "l_diversity.")
JUDGED = ("k", "confidence_k", "suppression", "linking_risk", "expected_linking_risk", "prosecutor_risk")


def verdicts(policy: Policy, expected: Expected) -> tuple[Verdict, ...]:
    """Judge one point.

    Args:
        policy: with the point's values.
        expected: of the point; of an interval the worse end is judged.
    """
    return tuple(_verdicts(policy, expected))


def _verdicts(policy: Policy, expected: Expected) -> Iterator[Verdict]:
    gate = policy.gate
    yield bounded("k", expected.smallest_class, policy.gate_k, "at least")
    if (risk := gate.linking_risk) is not None:
        linked = expected.linking_released
        if gate.linking == "expected":
            linked = min(linked + STANDARD_ERRORS * expected.standard_error[0], 1.0)  # as the gate does
        yield bounded("linking_risk", linked, risk, "at most")
    if (share := gate.suppression) is not None:
        yield bounded("suppression", expected.suppression_judged, share, "at most")
    elif expected.suppression > 1 - 1e-9:
        yield Verdict("suppression", Status.REFUSED, 1.0, 1.0, "below", reason="no record is left")
    if (k := gate.confidence_k) is not None:
        yield bounded("confidence_k", policy.anonymize.k, k, "at least")
    if (risk := gate.attacks.expected_linking_risk) is not None:
        linking = min(
            expected.linking + STANDARD_ERRORS * expected.standard_error[0], 1.0
        )  # as the gate does
        yield bounded("expected_linking_risk", linking, risk, "at most")
    if (risk := gate.attacks.prosecutor_risk) is not None:
        yield bounded("prosecutor_risk", 1 / expected.smallest_class, risk, "at most")


def unjudged(policy: Policy) -> tuple[str, ...]:
    """Name the limits of the gate that only a release can be judged by."""
    return tuple(name for name in limits_of(policy) if name not in JUDGED and not name.startswith(_CERTAIN))


def limits_linking(policy: Policy) -> bool:
    """Tell whether the policy says how much linking is too much."""
    gate = policy.gate
    return gate.linking_risk is not None or gate.attacks.expected_linking_risk is not None
