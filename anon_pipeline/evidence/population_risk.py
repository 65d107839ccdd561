"""How many people of the population fit each class, by the values that its released values cover.

A value of a level covers what the population's hierarchy has below it; a range covers what lies between its
ends; a blanked cell covers everybody. Full-domain columns are on the level that has most of the released
values, the lowest of these; other values are the lowest node of their name, else a range.

Decision: docs/adr/0027-population-and-posterior.md.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import Coded, code_quasi_identifiers
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.boxes import points_in_boxes
from anon_pipeline.risk.population import PopulationRisk, population_risk
from anon_pipeline.sources.population import Population

_NOBODY = (1, 0)
_MOST_WAYS = 1024  # to read one class that are looked at, the lowest levels first
_DAY = r"-?\d{4,}-\d\d-\d\d"

Integers = NDArray[np.int64]


def sampled_risk(evidence: Evidence, policy: Policy, population: Population) -> PopulationRisk:
    """Measure journalist and marketer risk, see `classes_risk`.

    Raises:
        InputError: see `class_populations`.
    """
    return classes_risk(evidence.class_sizes, class_populations(evidence, policy, population))


def classes_risk(sizes: Integers, persons: Integers) -> PopulationRisk:
    """Measure journalist and marketer risk; a class fits at least as many people as it has records.

    If released people are missing from the population, both risks are overestimated, never
    underestimated, because these people belong to the population even if the table lacks them.

    Args:
        sizes: (m,) released records of each class.
        persons: (m,) people of the population who fit each class.
    """
    return population_risk(sizes, np.maximum(persons, sizes))


def class_populations(evidence: Evidence, policy: Policy, population: Population) -> Integers:
    """Count the people who fit each released class, (m,); one person may fit several classes.

    Args:
        evidence: of the release; a file alone will do.
        policy: names the generalize columns, their hierarchies and the recoder.
        population: a record for each person.
    Raises:
        InputError: values that a hierarchy does not cover, by column and count.
    """
    coded = coded_population(policy, population, hierarchies=evidence.hierarchies)
    first = np.zeros(len(evidence.classes.sizes), np.int64)
    first[evidence.classes.labels[::-1]] = np.arange(len(evidence.released))[::-1]
    levels = recoder_of(policy.anonymize.recoder).family.releases == "levels"
    points, readings = [], []
    for j, name in enumerate(policy.generalized):
        line = _positions(coded.hierarchies[j])
        points.append(line[coded.codes[:, j]])
        readings.append(
            _readings(coded.hierarchies[j], line, evidence.released[name].iloc[first], levels=levels)
        )
    return _fewest_people(np.stack(points, axis=1), readings)


Reading = tuple[int, int]
"""First and last position that a released text may cover."""


def _fewest_people(points: Integers, readings: list[list[list[Reading]]]) -> Integers:
    """Count the people of each class, (m,): the least count over the ways to read it that fit anybody.

    Args:
        points: (p, q) position of each person of the population.
        readings: q columns, for each class the ways to read its text.
    """
    owners, boxes = [], []
    for place, own in enumerate(zip(*readings, strict=True)):
        ways = list(itertools.islice(itertools.product(*own), _MOST_WAYS))
        owners += [place] * len(ways)
        boxes += ways
    ends = np.array(boxes, np.int64).reshape(len(boxes), points.shape[1], 2)
    counts = points_in_boxes(points, ends[:, :, 0], ends[:, :, 1])
    nobody = np.iinfo(np.int64).max
    found = np.full(len(readings[0]), nobody)
    np.minimum.at(found, np.array(owners, np.int64), np.where(counts > 0, counts, nobody))
    return np.where(found < nobody, found, 0)


def coded_population(policy: Policy, population: Population, *, hierarchies: Path) -> Coded:
    """Code the generalize columns of a population.

    Args:
        population: a record for each person.
    Raises:
        InputError: values that a hierarchy does not cover, by column and count.
    """
    try:
        return code_quasi_identifiers(population.frame.apply(_plain), policy, folder=hierarchies)
    except InputError as error:
        raise InputError([f"population: {problem}" for problem in error.problems]) from None


def _plain(series: pd.Series) -> pd.Series:
    return series.astype(object) if isinstance(series.dtype, pd.CategoricalDtype) else series


def _positions(hierarchy: Hierarchy) -> Integers:
    """Put the leaves in an order in which whatever a value covers is next to each other, (D,)."""
    if hierarchy.places is None:
        return np.arange(hierarchy.leaves)
    positions = np.empty(hierarchy.leaves, np.int64)
    positions[np.argsort(hierarchy.places, kind="stable")] = np.arange(hierarchy.leaves)  # missing goes last
    return positions


def _readings(hierarchy: Hierarchy, line: Integers, texts: pd.Series, *, levels: bool) -> list[list[Reading]]:
    """Return the ways to read each of m released texts: several where values of one name differ, or ranges.

    Args:
        levels: whether one level is released for a whole column: then it is one of those that make most of
            the texts, and the top is that of blanked cells.
    """
    codes, distinct = pd.factorize(texts.astype(object), use_na_sentinel=False)
    keys = [None if pd.isna(text) else str(text) for text in distinct]
    nodes = [_nodes(hierarchy, line, level) for level in range(hierarchy.height)]
    if levels:
        made = [sum(key in named for key in keys) for named in nodes[:-1]]
        nodes = [named for named, many in zip(nodes, made, strict=False) if many == max(made)] + nodes[-1:]
    found = [_ways(hierarchy, line, nodes, key, ranges=not levels) for key in keys]
    return [found[code] for code in codes.tolist()]


def _nodes(hierarchy: Hierarchy, line: Integers, level: int) -> dict[str | None, Reading]:
    """First and last position below each value of a level, by its text."""
    values, lookup = hierarchy.values[level], hierarchy.lookups[level]
    first, last = np.full(len(values), len(line)), np.full(len(values), -1)
    np.minimum.at(first, lookup, line)
    np.maximum.at(last, lookup, line)
    ends = zip(first.tolist(), last.tolist(), strict=True)
    return {None if value is None else str(value): pair for value, pair in zip(values, ends, strict=True)}


def _ways(
    hierarchy: Hierarchy,
    line: Integers,
    nodes: list[dict[str | None, Reading]],
    key: str | None,
    *,
    ranges: bool,
) -> list[Reading]:
    """Return the ways to read one text; nobody, where the population's hierarchy does not have it."""
    found = [named[key] for named in nodes if key in named]
    if (
        not found
        and ranges
        and key is not None
        and hierarchy.places is not None
        and key[:1] + key[-1:] == "[]"
    ):
        found = [_between(hierarchy, line, ends) for ends in _halves(key[1:-1])]
    return [*dict.fromkeys(ends for ends in found if ends[0] <= ends[1])] or [_NOBODY]


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Yield every way to read a text as the two ends of a range: a category may hold a comma."""
    for comma in re.finditer(", ", text):
        yield text[: comma.start()], text[comma.end() :]


def _between(hierarchy: Hierarchy, line: Integers, ends: tuple[str, str]) -> Reading:
    """Return the positions from one end to the other; the ends of numbers need not be in the population."""
    low, high = (_place(hierarchy, end) for end in ends)
    if low is None or high is None or hierarchy.places is None:
        return _NOBODY
    inside = (hierarchy.places >= low) & (hierarchy.places <= high)  # a missing value is in no range
    return (int(line[inside].min()), int(line[inside].max())) if inside.any() else _NOBODY


def _place(hierarchy: Hierarchy, end: str) -> float | None:
    """Return where the end of a range lies: its number, its day, or its rank among ordered categories."""
    if hierarchy.coordinates is None:
        ranks = {str(value): rank for rank, value in enumerate(hierarchy.values[0]) if value is not None}
        return ranks.get(end)
    try:
        if re.fullmatch(_DAY, str(hierarchy.values[0][0])):
            return float(np.datetime64(end, "D").astype(np.int64))
        return float(end)
    except ValueError:
        return None
