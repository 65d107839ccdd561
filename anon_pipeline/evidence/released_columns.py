"""Columns whose values a release shows as they are, or nearly so, and those of them that follow a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.order import count_different, different_values
from anon_pipeline.base.packed_tables import (
    Table,
    counted_cells,
    factorize_column,
    unpack_table,
    value_numbers,
)
from anon_pipeline.base.values import column_codes
from anon_pipeline.catalog.detectors.identifying_names import birth_part, is_vague, telling_name
from anon_pipeline.catalog.detectors.identifying_values import looks_like, may_be
from anon_pipeline.encode.categories import category_noises
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.perturb.category_law import keep_probabilities
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.agreement import (
    ALIKE,
    found_agreements,
    independent_columns,
    repeated_groups,
    tells_one_person,
)
from anon_pipeline.risk.singling_out import FEWEST, is_identifying

MANY = 20
"""Number of different values from which a column may stand for people instead of groups."""

FEW = 8
"""Different values from which a column may follow a few people who have many records."""

_COLUMNS = 2  # quasi-identifiers that must all agree where a column has few values
_KEPT = 0.5
"""Chance that the drawn category is the original one, above which a column counts as released as it is."""


def shown_columns(policy: Policy) -> list[str]:
    """Name the columns whose values are released as they are, or mostly so, in the policy's order.

    They are the sensitive and insensitive ones, and those of categories whose mechanism keeps some value of
    the domain with more than one half, or may keep any: nothing limits what a change of the column keeps.
    """
    mostly = {
        name for name, noise in category_noises(policy).items() if keep_probabilities(noise).max() > _KEPT
    }
    mostly |= policy.changed_categories.keys()
    return [
        name for name, column in policy.columns.items() if isinstance(column, Coarsened) or name in mostly
    ]


def combined_codes(frame: Table, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the values of some columns together, each once for each person who has them.

    Args:
        frame: (n, columns), with `PERSON` where the policy names a person; without it records are counted.
    Returns:
        (r,) a number for each combination, −1 where one of its values is missing.
    """
    once = unpack_table(frame[[PERSON, *names]]).drop_duplicates() if PERSON in frame else frame
    codes = factorize_column(once, names[0])[0]
    for name in names[1:]:
        other = factorize_column(once, name)[0]
        both = (codes >= 0) & (other >= 0)
        whole = different_values(codes * (int(other.max(initial=0)) + 1) + other)[1]
        codes = np.where(both, whole, -1).astype(np.int64)
    return codes


def following_columns(frame: Table, policy: Policy) -> tuple[str, ...]:
    """Name the shown columns whose equal values mark records of one person.

    A column counts with at least `MANY` different values, `FEWEST` of them repeated, where records of one
    value agree in the original quasi-identifiers, on average over those that do not follow from one another,
    by more than `ALIKE` beyond chance, and in two of them if there are two (`tells_one_person`): a diagnosis
    agrees with its ward alone. A city agrees with the postal code only. With fewer
    values, but at least `FEW`, they must agree so in each of these quasi-identifiers, at least two.

    Args:
        frame: (n, columns) of `deidentified`: quasi-identifiers are as they were, the others as released.
    Returns:
        Names in the policy's order.
    """
    quasi = {
        name: narrow_integers(value_numbers(frame, name)) for name in (*policy.generalized, *policy.noisy)
    }
    telling = _independent(quasi)
    found = []
    for name in shown_columns(policy):
        values = narrow_integers(factorize_column(frame, name)[0])
        groups = len(repeated_groups(values).sizes)
        different = int(values.max(initial=-1)) + 1
        if different >= FEW and groups >= FEWEST:
            others = telling if name not in quasi else _independent({**quasi, name: values * 0})
            agreements = found_agreements(values, others)
            few = bool(agreements) and min(agreements) > ALIKE and len(others) >= _COLUMNS
            if tells_one_person(agreements) if different >= MANY else few:
                found.append(name)
    return tuple(found)


def _independent(quasi: Mapping[str, NDArray[np.integer]]) -> list[NDArray[np.integer]]:
    """Return the quasi-identifiers that do not follow from one another."""
    columns = list(quasi.values())
    return [columns[j] for j in independent_columns(columns)]


def telling_columns(frame: Table, policy: Policy) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the shown columns whose names say that they identify people, and what they say.

    A column counts with at least `MANY` different values, a coarsened one only if fewer than `FEWEST` people
    or records have one value on average. With fewer different values one that is not coarsened counts if they
    look like what the name says (`looks_like`); a name or a user's name alone may be that of a product, and
    does not. Day and month of birth, with or without the year, count as one.
    """
    shown = shown_columns(policy)
    parts = {birth_part(name): name for name in reversed(shown)}
    if parts.keys() >= {"day", "month"}:
        birth = tuple(name for name in shown if name in {parts[part] for part in parts if part is not None})
        if _many(frame, policy, birth):
            yield birth, "dates of birth"
    for name in shown:
        said = telling_name(name)
        if said is None or (birth_part(name) and "month" in parts):
            continue
        few = _few_values(frame, policy, name)
        if _many(frame, policy, [name]) or (few and looks_like(said, few) and not is_vague(name)):
            yield (name,), said


def doubtful_columns(frame: Table, policy: Policy) -> Iterator[str]:
    """Yield the shown columns whose names say that they identify people, and whose few values may be that.

    They are those that `telling_columns` leaves out: fewer than `MANY` different values, of which it is not
    plain what they are.
    """
    refused = {name for names, _ in telling_columns(frame, policy) for name in names}
    for name in shown_columns(policy):
        if (
            name not in refused
            and telling_name(name) is not None
            and may_be(_few_values(frame, policy, name))
        ):
            yield name


def _few_values(frame: Table, policy: Policy, name: str) -> list[str]:
    """Return the different values of a column that has fewer than `MANY` and is not coarsened; else none."""
    if name in policy.coarsened or counted_cells(frame, name)[0].nunique() >= MANY:
        return []
    return [str(text) for text in column_codes(frame, name)[1].drop_null().to_pylist()]


def _many(frame: Table, policy: Policy, names: Sequence[str]) -> bool:
    """Return whether columns have enough different values to stand for people."""
    codes = combined_codes(frame, names)
    there = codes[codes >= 0]
    different = count_different(there)
    coarse = any(name in policy.coarsened for name in names)
    return different >= MANY and (not coarse or len(there) < FEWEST * different)


def identifies(frame: Table, name: str) -> bool:
    """Tell whether a column has half as many different values as values present, or as people with one."""
    return is_identifying(combined_codes(frame, [name]))
