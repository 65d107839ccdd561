"""What a policy may let happen without saying so: bounds that hold where it has none, or that it goes beyond.

Who goes beyond one of them says it in the policy, and the release has a warning (`accepted`, ADR 54).
"""

from __future__ import annotations

LINKING = 0.2
"""Largest share that may be linked, by noise or by one insensitive column ([ADR 47])."""

HOMOGENEITY = 0.05
"""Largest share of the records in classes with one value, or nearly one value, of a column ([ADR 54, 58]).

Also of the people whose classes have one value in common ([ADR 46]).
"""

DOMINANCE = 0.05
"""Largest share of the people in classes of which one person has more than half of the records ([ADR 46])."""

RARE_TOGETHER = 0.05
"""Largest share of the records whose insensitive values together fewer than k share ([ADR 60])."""

RARE_TEXTS = 0.05
"""Largest share of the records with a text of a sensitive column that fewer than k share ([ADR 68])."""

FOUND_GROUPS = 0.05
"""Largest share of the records with a value of an insensitive column that gives most who have it away."""

LISTS = 0.05
"""Largest share of the records with a cell that lists several values of a sensitive column ([ADR 68])."""

SMALLEST_K = 3
"""Least k: of a class of two, each of the two knows the other's values."""

DELTA = 0.001
"""Largest δ: of one record in a thousand the noise may tell what it likes, whatever ε is ([ADR 68])."""

DRAWN_KEPT = 0.99
"""Largest probability with which randomized response releases a value as it is ([ADR 68])."""

CONFIDENCE = 0.99
"""Confidence of the interval in which an original must not be alone, if the policy has none ([ADR 68])."""

T_CLOSENESS = 0.9
"""Largest t: beyond it nearly every class keeps the limit ([ADR 68])."""

RECURSIVE_C = 10
"""Largest c of recursive (c, l)-diversity, how often one value may outnumber the rare ones ([ADR 68])."""

_MOST = 0.5


def linking_bound(k: int) -> float:
    """Return the largest share that may be linked where the policy has no bound of its own.

    Args:
        k: of the gate: without more knowledge, a person is picked with 1/k at most.

    >>> [linking_bound(k) for k in (3, 5, 10, 50)]
    [0.5, 0.4, 0.2, 0.2]
    """
    return max(LINKING, min(2 / k, _MOST))
