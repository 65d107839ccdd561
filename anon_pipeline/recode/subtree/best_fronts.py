"""From the fronts that a recoder of this family chose to a choice: the classes, and what they release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.losses import WEIGHED
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.choice import Choice, key_classes
from anon_pipeline.recode.contents import ClassContents, merge_contents
from anon_pipeline.recode.partition_loss import measured_loss
from anon_pipeline.recode.subtree.search import (
    Outcome,
    Search,
    State,
    classes_of,
    fronts_of,
    look_at,
    no_front_error,
    prepare_search,
)
from anon_pipeline.recode.subtree.trees import Tree
from anon_pipeline.recode.task import Task
from anon_pipeline.recode.tuples import DistinctTuples


def subtree(task: Task, table: DistinctTuples) -> Choice:
    """Search fronts by the task's recoder, and choose those that it found.

    Raises:
        InfeasibleError: the recoder found none that keep the constraints.
        InputError: a loss cannot be counted for so many records.
    """
    search = prepare_search(task, table)
    find: Callable[[Search], State] = import_entry(recoder_of(task.recoder).algorithm)
    return choose_fronts(search, find(search))


def choose_fronts(search: Search, state: State) -> Choice:
    """Choose the fronts of a state: generalize all, suppress the classes that break a constraint.

    Raises:
        InfeasibleError: these are more records than may be suppressed.
    """
    outcome = look_at(search, state)
    if outcome.excess:
        raise no_front_error(search)
    found = classes_of(search, state)
    lookups, texts, values = [], [], []
    columns = zip(search.task.hierarchies, search.trees, fronts_of(search, state), strict=True)
    for hierarchy, tree, (front, _) in columns:
        own, lookup = np.unique(front, return_inverse=True)
        lookups.append(lookup.reshape(-1).astype(np.int64))
        text, named = _by_name(_released_values(hierarchy, tree, own))
        texts.append(text)
        values.append(named)
    tuples = search.table.tuples[found.first[~found.broken]]
    rows = np.stack([lookup[tuples[:, column]] for column, lookup in enumerate(lookups)], axis=1)
    codes = np.stack([text[rows[:, column]] for column, text in enumerate(texts)], axis=1)
    first, classes, _ = group_rows(codes)
    kept = np.full(len(found.broken), -1, np.int64)
    kept[~found.broken] = classes
    released = merge_contents(found.contents, kept)
    return Choice(
        finder=key_classes(lookups, rows, classes),
        codes=codes[first],
        sizes=released.sizes,
        values=tuple(values),
        labels=kept[found.labels],
        levels=None,
        loss=_loss(search, outcome, released),
        suppressed=outcome.suppressed,
    )


def _loss(search: Search, outcome: Outcome, released: ClassContents) -> float:
    """Return what is lost; of a loss that looks at classes, after those of one name are one."""
    if search.task.loss in WEIGHED:
        return float(search.units.loss(outcome.score))
    return measured_loss(search.task, released)


def _by_name(values: NDArray[np.object_]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Number released values by their name: a table of levels may give one name to several.

    Who reads the release cannot tell them apart, so they are one value there. Classes that become one by it
    keep what both keep, see `mondrian.choose_parts`.

    Returns:
        Number of each value, and the values that have the numbers.
    """
    ranks: dict[str | None, int] = {}
    first: list[int] = []
    for place, value in enumerate(values.tolist()):
        if ranks.setdefault(None if value is None else str(value), len(ranks)) == len(first):
            first.append(place)
    names = [None if value is None else str(value) for value in values.tolist()]
    return np.array([ranks[name] for name in names], np.int64), values[first]


def _released_values(hierarchy: Hierarchy, tree: Tree, front: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the released value of each place in a front."""
    found = np.empty(len(front), np.object_)
    for place, value in enumerate(front.tolist()):
        found[place] = hierarchy.values[tree.levels[value]][tree.codes[value]]
    return found
