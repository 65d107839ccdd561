"""Recoders: choose how the quasi-identifiers are generalized so that every class has at least k records.

Belongs here: the one door to all recoders. Does not belong here: any algorithm. The modules with kernels are
imported by the first call, because numba takes most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.errors import InfeasibleError
from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.model import Recoding

__all__ = ["RECODERS", "RecoderName", "Recoding", "recode"]

RecoderName = Literal["ola", "optimal", "mondrian", "mondrian_relaxed"]
RECODERS: tuple[RecoderName, ...] = ("ola", "optimal", "mondrian", "mondrian_relaxed")
_LOSSES = ("precision", "granularity")


def _require_feasible(records: int, k: int, max_suppressed: int) -> None:
    """Raise where no recoding can be found; otherwise generalizing everything is one.

    Raises:
        InfeasibleError: fewer than k records, or more suppressed already than may be.
    """
    if records < k:
        raise InfeasibleError(
            f"k must be at most the number of records ({records:,}), got {k:,}.",
            k=k,
            reached_k=records if max_suppressed >= 0 else 0,
            suppressed=1.0,
        )
    if max_suppressed < 0:
        raise InfeasibleError(
            f"The suppression limit must not be used up before recoding, got {-max_suppressed:,} over.",
            k=k,
            reached_k=0,
            suppressed=0.0,
        )


def recode(
    codes: NDArray[np.integer],
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    max_suppressed: int,
    recoder: RecoderName,
    loss: Literal["precision", "granularity"],
) -> Recoding:
    """Generalize and suppress until every class has at least k records.

    Deterministic and independent of the row order.

    Args:
        codes: (n, q) leaf codes; a missing value is a leaf as any other.
        hierarchies: q hierarchies, one for each column.
        k: records in the smallest class, ≥ 1.
        max_suppressed: records that may be suppressed; Mondrian suppresses none.
        recoder: ``ola``, the best k-minimal node; ``optimal``, the best of all nodes; ``mondrian``, strict;
            ``mondrian_relaxed``.
        loss: what to minimize (Mondrian: to measure).
    Raises:
        InfeasibleError: no recoding keeps the limits.
        InputError: the lattice is too large to search.
        ValueError: an unknown recoder or loss, k < 1, or codes that do not fit the hierarchies.
    Source:
        METHODS 4.
    """
    if recoder not in RECODERS or loss not in _LOSSES or k < 1:
        raise ValueError(f"recode must get a known recoder and loss and k ≥ 1, got {recoder}, {loss}, {k}.")
    from anon_pipeline.recode.fulldomain import full_domain_recoding  # noqa: PLC0415
    from anon_pipeline.recode.mondrian import mondrian  # noqa: PLC0415
    from anon_pipeline.recode.search import ola, optimal, prepare_search  # noqa: PLC0415
    from anon_pipeline.recode.table import distinct_tuples  # noqa: PLC0415

    _require_feasible(len(codes), k, max_suppressed)
    table = distinct_tuples(codes, hierarchies)
    if recoder in ("mondrian", "mondrian_relaxed"):
        return mondrian(table, hierarchies, k=k, loss=loss, relaxed=recoder == "mondrian_relaxed")
    search = prepare_search(table, hierarchies, k=k, max_suppressed=max_suppressed, loss=loss)
    best = optimal(search) if recoder == "optimal" else ola(search)
    return full_domain_recoding(search, best, table, hierarchies)
