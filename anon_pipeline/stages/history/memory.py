"""What was published before: who was in which class, and which noisy value a record got. Private."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.encode.categories import category_changes, category_domains, category_noises, noisy_units
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.mechanisms import clamp_inputs
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.persons import ID

MEMBERS = {"release": "int64", "person": "str", "class": "str"}
"""Columns of `Memory.members`, with their types."""
VALUES = {
    "person": "str",
    "column": "str",
    "class": "str",
    "original": "int64",
    "terms": "str",
    "noisy": "int64",
    "release": "int64",
}
"""Columns of `Memory.values`, with their types."""
KEY = ["person", "column", "original", "terms"]
"""By what a published value is looked up. Not by the class: its noise does not depend on it (ADR 32)."""


@dataclass(frozen=True, slots=True)
class Past:
    """A release that was published. Two of different people can have one table, and so one digest.

    release_id: under which the ledger has it; None without one, and in memories before version 3.
    epsilon: the whole ε of its policy, exact, as text (``8``, ``1/2``): never less than what it was opened
        with. None in memories before version 4.
    """

    digest: str
    partition: str | None
    release_id: str | None = None
    epsilon: str | None = None

    def may_be(self, digest: str | None, release_id: str | None) -> bool:
        """Tell whether a table is this release's: by the ids where both have one, else by the digest."""
        return self.digest == digest and (
            None in (self.release_id, release_id) or self.release_id == release_id
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Memory:
    """All that was published of a release, over time and partitions.

    releases: in the order of their publication.
    members: a row per release and person: ``release`` (position in ``releases``), ``person`` (keyed hash),
        ``class`` (the generalized tuple, as text).
        Before version 4 it is of the key as it was written then: see `normalize_persons`.
    values: a row per noisy value that was published and may stay: ``person``, ``column``, ``class`` (that it
        was last published in; nothing is looked up by it), ``original`` (grid units within the public bounds,
        or code), ``noise_terms`` (what the noise was drawn under), ``noisy`` (grid units or code),
        ``release``
        (position in ``releases`` of the one that published it last; −1 where no ledger is known to have
        booked it).
    key: under which column and key the people are hashed, see `persons.memory_key`; None if nobody is.
    written: how many of the releases, the first ones, were remembered before version 4; none once it was said
        that their people are others than those to come, see `normalize_persons`.
    """

    releases: tuple[Past, ...]
    members: pd.DataFrame
    values: pd.DataFrame
    key: str | None = None
    written: int = 0

    def __repr__(self) -> str:
        """Say how much it holds; a notebook must not show the rest."""
        return f"Memory({len(self.releases)} releases, {len(self.values)} values)"

    @classmethod
    def empty(cls) -> Memory:
        """Return the memory of a release that was never published."""
        return cls((), _typed_frame({}, MEMBERS), _typed_frame({}, VALUES))

    def knows(self, digest: str, partition: str | None, release_id: str | None = None) -> bool:
        """Tell whether a table was published as that partition, under that id."""
        return any(past.partition == partition and past.may_be(digest, release_id) for past in self.releases)

    def rehash(self, key: str) -> Memory:
        """Return the memory for people that are hashed under a column and key.

        Raises:
            InputError: its own were hashed under others: everybody would be a stranger.
        """
        if self.key not in (None, key):
            raise InputError(
                "the memory is of people hashed by another record_key or key than now. Restore the key; a "
                "new memory would not know what was published."
            )
        return replace(self, key=key)

    def only_booked(self, published: Collection[tuple[str, str]]) -> Memory:
        """Return the memory in which only values whose last release is booked have one.

        A release that is booked has paid for all that it published: what it re-used was booked before, or
        with it. So its values can be published again for nothing.

        Args:
            published: id and table's digest of the releases that a ledger has as published, see
                `ledger.Ledger.tables`. The digest alone would not do: releases of different people can have
                one table. A release without an id counts as not booked.
        """
        booked = np.array([*((past.release_id, past.digest) in published for past in self.releases), False])
        release = self.values["release"].to_numpy(np.int64)
        return replace(self, values=self.values.assign(release=np.where(booked[release], release, -1)))


def _typed_frame(columns: Mapping[str, Any], types: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(columns.get(name, []), dtype=kind) for name, kind in types.items()})


def class_texts(frame: Table, policy: Policy) -> pd.Series:
    """Return each record's class as text, (n,): the JSON list of its generalized values, in column order.

    Args:
        frame: (n, columns) generalized.
    """
    names = list(policy.generalized)
    labels = value_classes(frame, names).labels
    _, first = np.unique(labels, return_index=True)
    rows = some_rows(frame, first, names).itertuples(index=False, name=None)
    written = [json.dumps([None if pd.isna(v) else str(v) for v in row], ensure_ascii=False) for row in rows]
    return pd.Series(pd.array(np.array(written, dtype=object)[labels], dtype="str"))


def noise_terms(policy: Policy) -> dict[str, str]:
    """Say for each perturb column what its noise is drawn under: ε share, resolution, bounds, mechanism.

    A noisy value is re-used only under the terms that it was drawn under. Where there are a δ or public input
    bounds, these are added: terms of noise that is scaled to a class are never those of noise with a public
    scale. For categories: ε share, mechanism, the domain by digest, and the shares
    where they are drawn by.
    """
    bounds, found = output_bounds(policy), dict[str, str]()
    for j, ((name, column), noise) in enumerate(zip(policy.perturbed.items(), noises(policy), strict=True)):
        said = [str(noise.epsilon), column.resolution, bounds[j], noise.mechanism]
        if noise.delta is not None or noise.inputs is not None:
            said += [None if noise.delta is None else str(noise.delta), noise.inputs]
        found[name] = json.dumps(said)
    drawn, changed = category_noises(policy), category_changes(policy)
    for name, domain in category_domains(policy).items():
        if name in changed:  # which is never used again
            found[name] = json.dumps([str(changed[name].epsilon), changed[name].mechanism, domain.digest])
            continue
        categories = drawn[name]
        said = [str(categories.epsilon), categories.mechanism, domain.digest]
        said += [list(categories.draw_weights)] if categories.shares else []
        found[name] = json.dumps(said)
    return found


def protected_values(policy: Policy, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values that the noise protects: numbers moved to their public input bounds, codes.

    Args:
        units: (n, p) grid units, then codes, see `noisy_units`.
    """
    found = units.copy()
    for j, noise in enumerate(noises(policy)):
        found[:, j] = clamp_inputs(noise, units[:, j])
    return found


def normalize_persons(memory: Memory, persons: pd.Series) -> tuple[Memory, pd.Series]:
    """Return a memory that knows a table's people by the normal form of their keys, and their ids in it.

    A memory before version 4 has hashes of keys as they were written, which cannot be brought to a normal
    form without the keys. Of a table both hashes are there: who is found by the one as written is called by
    the other from now on. So everybody whom the memory knew by this writing of the key is known; who is not
    in the table stays as it is, until it is.

    Args:
        memory: what was published; is not changed.
        persons: (n,) see `persons.person_ids`; others (of `ID` characters or fewer) are taken as they are.
    Returns:
        The memory, and (n,) ids.
    Raises:
        InputError: two people of one release would become one; or a memory that began before version 4 knows
            nobody of the table, by either form: if all keys are written in another way, everybody would be
            new, and what was published of them would not count.
    """
    if not len(persons) or not (persons.str.len() == 2 * ID).all():
        return memory, persons
    now, then = persons.str[:ID], persons.str[ID:]
    if not _knows_any(memory, then):
        if memory.written and len(memory.members) and not _knows_any(memory, now):
            raise InputError(
                f"record_key: the memory must know at least one record of the table by its key, got 0 of "
                f"{len(persons)} records among {memory.members['person'].nunique()} remembered keys. "
                f"A version before 0.2 has remembered them as they were written then: write the keys as in "
                f"the last release. If these are other people, run anon-pipeline vault new-people POLICY."
            )
        return memory, now
    names = dict(zip(then, now, strict=True))
    members, values = (
        frame.assign(person=frame["person"].map(names).fillna(frame["person"]).astype("str"))
        for frame in (memory.members, memory.values)
    )
    twice = int(members.duplicated(["release", "person"]).sum())
    if twice:
        raise InputError(
            "record_key: the memory must know people by keys that differ in more than case, white space and "
            f"leading zeros, got {twice} in one release that do not: they cannot be distinguished any more. "
            "Give them other keys and begin a new memory: see docs/known-limits.md, The memory stays."
        )
    values = values.drop_duplicates(KEY, keep="last").reset_index(drop=True)
    return replace(memory, members=members, values=values), now


def _knows_any(memory: Memory, persons: pd.Series) -> bool:
    return bool(memory.members["person"].isin(persons).any() or memory.values["person"].isin(persons).any())


def remember(memory: Memory, policy: Policy, released: Table, originals: Table, *, past: Past) -> Memory:
    """Add a release to what was published; call it when the release is, never before.

    Args:
        memory: of the releases before; is not changed.
        released: (r, columns) the published table, with record ids.
        originals: (n, columns) the table of `k_anonymized`.
        past: the release; its ε is the policy's.
    Returns:
        The new memory; the same one if the release is in it: table, people, classes and noise, not the
        table alone. Values whose noise may not stay are left out. Of equal keys the last one stays.
    """
    behind = unpack_table(originals).set_index(RECORD).loc[released[RECORD]].reset_index()
    memory, persons = normalize_persons(memory, behind[PERSON])
    classes = class_texts(behind, policy)
    joined = _typed_frame({"person": persons, "class": classes}, {"person": "str", "class": "str"})
    current = np.int64(len(memory.releases))
    members = joined.assign(release=current)[list(MEMBERS)]
    before, after = protected_values(policy, noisy_units(behind, policy)), noisy_units(released, policy)
    under, lasting = noise_terms(policy), policy.lasting
    added = [
        joined.assign(
            column=name, original=before[:, j], terms=under[name], noisy=after[:, j], release=current
        )
        for j, name in enumerate(policy.noisy)
        if name in lasting
    ]
    past = replace(past, epsilon=_whole_epsilon(policy))
    if _has(memory, past, members, added):
        return memory
    values = pd.concat([memory.values, *added], ignore_index=True).drop_duplicates(KEY, keep="last")
    return Memory(
        (*memory.releases, past),
        pd.concat([memory.members, members], ignore_index=True).astype(MEMBERS),
        values[list(VALUES)].astype(VALUES).reset_index(drop=True),
        memory.key,
        memory.written,
    )


def _whole_epsilon(policy: Policy) -> str:
    return "0" if policy.noise_epsilon is None else str(exact_fraction(policy.noise_epsilon))


def _has(memory: Memory, past: Past, members: pd.DataFrame, values: list[pd.DataFrame]) -> bool:
    """Tell whether a release is in the memory already; under one id the noise is the same, too."""
    who = ["person", "class"]
    people = set(members[who].itertuples(index=False, name=None))
    for position, known in enumerate(memory.releases):
        same = known.release_id in (None, past.release_id) and known.epsilon in (None, past.epsilon)
        if (known.digest, known.partition) != (past.digest, past.partition) or not same:
            continue
        behind = memory.members.loc[memory.members["release"] == position, who]
        if set(behind.itertuples(index=False, name=None)) == people:
            return known.release_id is not None or _within(values, memory.values)
    return False


def _within(added: list[pd.DataFrame], values: pd.DataFrame) -> bool:
    """Return whether all noisy values were published before, for the same people."""
    what = [*KEY, "noisy"]
    known = pd.MultiIndex.from_frame(values[what])
    return all(pd.MultiIndex.from_frame(frame[what]).isin(known).all() for frame in added)
