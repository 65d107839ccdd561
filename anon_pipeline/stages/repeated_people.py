"""Whether records look as if several of them were about one person, in a table where nobody says so.

An identifier whose values repeat may be a name that many people have, or a person with several records.
Records of one person agree in their quasi-identifiers, and so meet in one class, where k counts them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.rows import keep_rows
from anon_pipeline.base.threads import side_by_side, side_by_side_unless_huge
from anon_pipeline.base.values import WrittenColumns
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.agreement import found_agreements, tells_one_person
from anon_pipeline.risk.repeated_combinations import FEWEST_COLUMNS, counts_repeat, repeats_as_people_do
from anon_pipeline.stages.people_identifiers import people_identifiers, same_person, same_text

_LEAST = 2
"""Records beyond the first one of their value from which a column is looked at."""


def repeated_people(frame: Table, policy: Policy) -> tuple[str, ...]:
    """Name the columns whose values look like people with several records.

    An identifier counts where at least `_LEAST` records repeat a value and records of one value agree in the
    quasi-identifiers by more than `ALIKE` beyond chance: the mean over repeated values of the share of pairs
    that agree, against the share among all pairs of the table, averaged over the generalize columns, and in
    two of these if there are two: a first name agrees with the sex, whoever has it. Where no
    generalize column distinguishes records, the repetition alone counts. Numbers and addresses that are one
    person's, and names of people, count as `people_identifiers` says, whatever the quasi-identifiers do.

    Quasi-identifiers count where their combinations repeat as people do, see `repeats_as_people_do`: the
    generalize columns, those of them that are no dates, or all; with insensitive columns where they are
    fewer than `FEWEST_COLUMNS` that do not follow from one another, and with sensitive ones where these are
    still too few. Records that lack a value in one of the columns are not looked at. If nothing else says
    anything, so do generalize columns each of whose combinations has a multiple of some number of records,
    see `counts_repeat`.

    Where the policy says who the people are, one record of each is looked at, and other identifiers: a number
    of the row is no person, nor is an alias.

    Args:
        frame: (n, columns) accepted data, before identifiers are removed.
        policy: names the columns.
    Returns:
        Names in the policy's order: identifiers, then quasi-identifiers.
    """
    said = policy.person or policy.record_key
    if said is not None:
        frame = keep_rows(frame, ~pd.Series(same_person(frame[said])).duplicated().to_numpy())
    written = WrittenColumns(frame)
    side_by_side([partial(written.codes, name) for name in combined_columns(policy)], records=len(frame))
    found = side_by_side_unless_huge(
        [
            partial(_repeated_identifiers, written, policy, said),
            partial(_repeated_combination, written, policy),
        ],
        records=len(frame),
    )
    names = [name for names in found for name in names]
    if (
        not names
        and policy.generalized
        and counts_repeat([written.codes(name) for name in policy.generalized])
    ):
        names = [*policy.generalized]
    return tuple(names)


def _repeated_identifiers(written: WrittenColumns, policy: Policy, said: str | None) -> tuple[str, ...]:
    """Name the identifiers that look like people with several records; ``said``: who says who they are."""
    numbered = {
        name: narrow_integers(same_text(*written.both(name))) for name in policy.identifiers if name != said
    }
    people = {name: values for name, values in numbered.items() if not _is_constant(values)}
    found = {*people_identifiers(written, policy, people, said=said)}
    if said is None or policy.generalized:
        found |= {
            name
            for name, values in people.items()
            if _looks_like_people(values, (written.codes(other) for other in policy.generalized))
        }
    return tuple(name for name in policy.identifiers if name in found)


def _is_constant(values: NDArray[np.integer]) -> bool:
    """Tell whether there is one value alone, which says nothing about whose record it is."""
    return bool(values.max(initial=-1) == 0 or (values == values[:1]).all())


def combined_columns(policy: Policy) -> list[str]:
    """Name the quasi-identifiers; if they are too few to show people's records, insensitive columns, too.

    And if these are still too few, sensitive columns.
    """
    names: list[str] = []
    for more in ([*policy.generalized, *policy.noisy], policy.insensitive, policy.sensitive):
        if len(names) < FEWEST_COLUMNS:
            names.extend(name for name in more if name not in names)
    return names


def _unlike(*columns: list[str]) -> Iterator[list[str]]:
    """Yield lists of columns that were not yielded before."""
    yield from (names for number, names in enumerate(columns) if names not in columns[:number])


def _repeated_combination(written: WrittenColumns, policy: Policy) -> tuple[str, ...]:
    """Name the columns whose combinations repeat as people do; none where they do not.

    Generalized columns are also looked at without dates, which may be those of visits. Insensitive columns,
    and then sensitive ones, are looked at where all others do not tell.
    """
    lasting = [name for name, one in policy.generalized.items() if not hierarchy_kind(one.hierarchy).days]
    quasi = [*policy.generalized, *policy.noisy]
    more = [*quasi, *(name for name in policy.insensitive if name not in quasi)]
    every = [*more, *(name for name in policy.sensitive if name not in more)]
    told = None
    for names in _unlike([*policy.generalized], lasting, quasi, more, every):
        if told is not None and names in (more, every):
            break
        found = _repeats(written, names)
        if found:
            return tuple(names)
        told = told if found is None else found
    return ()


def _repeats(written: WrittenColumns, names: list[str]) -> bool | None:
    """Tell whether combinations repeat as people do; None: too few columns tell.

    Only records with a value in each column are looked at: who was not asked lacks several at once.
    """
    if len(names) < FEWEST_COLUMNS:
        return None
    there = written.present(names)
    columns = [written.codes(name) for name in names]
    return repeats_as_people_do(columns if there is None else [codes[there] for codes in columns])


def _looks_like_people(values: NDArray[np.integer], quasi: Iterable[NDArray[np.integer]]) -> bool:
    """Tell whether records that share a value of an identifier agree in their quasi-identifiers."""
    if int((np.bincount(values[values >= 0]) - 1).clip(min=0).sum()) < _LEAST:
        return False
    found = found_agreements(values, quasi)
    return not found or tells_one_person(found)
