"""What a kind of release with declared columns does; its entry in `catalog.release_kinds` names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS, ReleaseKind
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.perturb.keys import NoiseKey

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Release:
    """What is released, as it was read back from its files, and what may be known of where it came from.

    tables: the released tables, each (r, columns).
    records: of the source, public.
    codes: (n, columns) of the source, private; None: whoever judges has the released files alone.
    seeded: whether its random numbers can be made again by who knows a seed.
    earlier: ε of the dataset's releases that were published before; None: nobody has looked it up.
    people: (n,) number of the person of each record of the source, private; None: the policy does not say.
    """

    tables: Sequence[pd.DataFrame] = field(repr=False)
    records: int
    codes: Integers | None = field(default=None, repr=False)
    seeded: bool = False
    earlier: Fraction | None = None
    people: Integers | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a kind of release does. The first argument of each function is a policy of the kind.

    makes: from codes and the key of all random numbers to the released tables.
    refuses: from the number of records; raises what would be refused whatever is drawn.
    judges: from a `Release` to the gate's verdicts, one for each of ``meanings``, in their order.
    guarantee: sentences of the policy alone.
    epsilon: that a release spends; 0: none.
    losses: from the number of records to lines about what the release is expected to lose; public.
    meanings: limits of the gate, in words.
    section: file of the part of the report about method and losses.
    shown: from the number of records to what this part of the report uses.
    """

    makes: Callable[[Any, Integers, NoiseKey], list[pd.DataFrame]]
    refuses: Callable[[Any, int], None]
    judges: Callable[[Any, Release], list[Verdict]]
    guarantee: Callable[[Any], list[str]]
    epsilon: Callable[[Any], Fraction]
    losses: Callable[[Any, int], list[str]]
    meanings: Mapping[str, str]
    section: Path
    shown: Callable[[Any, int], dict[str, Any]]


def parts_of(kind: ReleaseKind) -> Parts:
    """Return what a kind of release does."""
    parts: Parts = import_entry(kind.parts)
    return parts


def kind_named(name: object) -> ReleaseKind | None:
    """Return the kind that a manifest names; None: it names none of these."""
    return RELEASE_KINDS.get(name) if isinstance(name, str) else None
