"""Whether the records of a synthetic release's source look as if people had several of them.

Attackers are measured on two halves of the records. If both halves have records of the same people, nothing
is learned of the first half beyond the other, however much is learned of the people.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.declared.parts import Release
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.risk.repeated_combinations import FEWEST_COLUMNS, repeats_as_people_do

Integers = NDArray[np.int64]

PEOPLE = "records_of_people"
LEAST = 10
"""Times k that a source must have records, and people: half of them are held back from a simulated model."""

_LEFT_OUT = 2  # columns that may differ between the records of a person, such as a month and an amount
_MOST_SETS = 60  # of columns that are looked at
_LOOKS = "equal values of several columns occur together as if people had several records"


def judge_people(policy: SyntheticPolicy, release: Release) -> Verdict:
    """Judge whether attackers can be measured: people have one record, or the policy says who they are."""
    if release.codes is None:
        return Verdict(PEOPLE, Status.UNMEASURED, reason="needs the data")
    if not enough_people(policy, release.people):
        return Verdict(PEOPLE, Status.REFUSED, reason=f"there must be {LEAST} times k people at least")
    if policy.person is not None or not looks_like_people(release.codes):
        return Verdict(PEOPLE, Status.PASSED)
    if policy.one_record_per_person:
        return Verdict(PEOPLE, Status.WARNED, reason=f"{_LOOKS}, though the policy says that they have one")
    return Verdict(
        PEOPLE,
        Status.REFUSED,
        reason=f"{_LOOKS}. Set person to the column that identifies people, or release one record of each; "
        "if each person has one record, say one_record_per_person: true",
    )


def enough_people(policy: SyntheticPolicy, people: Integers | None) -> bool:
    """Tell whether attackers can be measured by people, as far as anybody says who they are.

    Args:
        people: (n,) 0 … m − 1 of each record; None: nobody says.
    """
    return people is None or int(people.max()) + 1 >= LEAST * policy.k


def looks_like_people(codes: Integers) -> bool:
    """Tell whether combinations of values repeat as people do, see `repeats_as_people_do`.

    In all columns, or in all but one or two: these differ between the records of a person.

    Args:
        codes: (n, columns) of the source.
    """
    columns = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in codes.T]
    return any(repeats_as_people_do([columns[at] for at in kept]) for kept in _sets(len(columns)))


def _sets(many: int) -> Iterator[tuple[int, ...]]:
    """Yield places of all columns, of all but one, of all but two; the last columns go first."""
    sizes = range(many, max(many - _LEFT_OUT, FEWEST_COLUMNS) - 1, -1)
    return islice(chain.from_iterable(combinations(range(many), size) for size in sizes), _MOST_SETS)
