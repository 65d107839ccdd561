"""The table of limits that each class keeps by itself: recoders keep them, and what breaks them is left out.

They stand below the table of all limits, because recoders, suppression and facts need them. Each has a field
of its name in the sections ``gate`` and ``anonymize``: sensitive column to what is demanded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class OnClasses:
    """A limit on the sensitive values of each class.

    name: of its fields in the policy, and in verdicts.
    breaks: place of the function that prepares the check of which classes break it, see `evidence.measures`.
    spare: place of the function that counts how many records a class may lose, see `evidence.spare`.
    by_distance: whether it compares values by the distance of their column.
    """

    name: str
    breaks: str
    spare: str
    by_distance: bool = False


T_CLOSENESS = OnClasses(
    "t_closeness",
    "anon_pipeline.evidence.measures:breaks_t_closeness",
    "anon_pipeline.evidence.spare:until_less_t_close",
    by_distance=True,
)
L_DIVERSITY = OnClasses(
    "l_diversity",
    "anon_pipeline.evidence.measures:breaks_l_diversity",
    "anon_pipeline.evidence.spare:until_less_l_diverse",
)
CLASS_LIMITS: Mapping[str, OnClasses] = MappingProxyType(
    {one.name: one for one in (T_CLOSENESS, L_DIVERSITY)}
)
