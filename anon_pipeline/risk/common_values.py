"""What the classes of one person have in common: their records together reveal what no single class does.

Belongs here: the values that occur in all classes of a person. Not here: what one class reveals
(`attributes`), and the classes of a person in several releases (`stages.history.cross_release`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.order import count_values, different_values, sorted_places
from anon_pipeline.risk.histograms import class_histograms, starts_of

Integers = NDArray[np.int64]


def one_in_common(
    codes: NDArray[np.integer], labels: NDArray[np.integer], people: NDArray[np.integer], *, m: int
) -> NDArray[np.bool_]:
    """Tell for whom the classes of all their records leave a single value, which all their records have.

    Whoever is in one class only does not count, nor does anybody whose records have several values.

    Args:
        codes: (r,) value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        people: (r,) whose record it is.
        m: number of classes, each with at least one record.
    Returns:
        By person, (P,), in ascending order of the P numbers in ``people``.
    Raises:
        ValueError: labels that are not compact, or a negative code.
    Source:
        [methods 8.4].

    >>> ill, classes = np.array([0, 0, 0, 1, 0, 2]), np.array([0, 1, 0, 0, 1, 1])
    >>> one_in_common(ill, classes, np.array([7, 7, 8, 8, 9, 9]), m=2).tolist()  # {0, 1} and {0, 2}
    [True, False, False]
    """
    if len(codes) and int(codes.min()) >= 0:
        codes = _commonest_first(codes.astype(np.int64))
    held = class_histograms(codes, labels, m=m)
    whose = different_values(people.astype(np.int64))[1]
    first, classes = _classes_of(whose, labels, np.diff(held.starts))
    own = np.empty(len(first) - 1, np.int64)
    own[whose] = codes
    varied = np.bincount(whose, weights=codes != own[whose]) > 0
    asked = np.flatnonzero((np.diff(first) > 1) & ~varied)
    if len(asked):  # one after the other, those of whom the same classes are compared
        asked = asked[sorted_places(*pack_columns((classes[first[asked] + 1], classes[first[asked]])))]
    seen = np.full(int(held.codes.max()) + 1, -1, np.int64)
    found = np.zeros(len(own), np.bool_)
    found[asked] = ~_have_another(asked, own, (first, classes), (held.starts, held.codes), seen)
    return found


def _commonest_first(codes: Integers) -> Integers:
    """Number values so that the one that most records have is 0: it is likely to be in all classes."""
    values, found = different_values(codes)
    places = np.empty(len(values), np.int64)
    places[np.argsort(-np.bincount(found), kind="stable")] = np.arange(len(values))
    return places[found]


def _classes_of(whose: Integers, labels: NDArray[np.integer], many: Integers) -> tuple[Integers, Integers]:
    """Return where the classes of each person begin, (P + 1,), and the classes, those with few values first.

    Args:
        whose: (r,) 0 … P−1, each of them there.
        many: (m,) different values of each class.
    """
    people, m = int(whose.max()) + 1, len(many)
    pairs, _ = count_values(whose * m + labels, people * m)
    person, classes = np.divmod(pairs, m)
    order = sorted_places(*pack_columns((person, many[classes])))
    return starts_of(np.bincount(person, minlength=people).astype(np.int64)), classes[order]


@kernel
def _have_another(people, own, visits, held, seen):  # type: ignore[no-untyped-def]
    """Tell who has another value than their own in all of their classes, two at least.

    The values of the class with the fewest are looked for in the next one, of which they are marked in
    ``seen``; what is there, too, in the others. Two classes that have nothing in common but the value of a
    person in both are compared once for all such people: no more than r^1.5 values are looked at, about.
    """
    first, classes = visits
    starts, values = held
    found = np.zeros(len(people), np.bool_)
    fewest, next_one, is_known = -1, -1, False
    for i in range(len(people)):
        begin, end, mine = first[people[i]], first[people[i] + 1], own[people[i]]
        if classes[begin + 1] != next_one:
            next_one, fewest = classes[begin + 1], -1
            for j in range(starts[next_one], starts[next_one + 1]):
                seen[values[j]] = next_one
        if classes[begin] == fewest and is_known:
            continue
        fewest, is_known = classes[begin], True
        for j in range(starts[fewest], starts[fewest + 1]):
            if values[j] == mine or seen[values[j]] != next_one:
                continue
            is_known = False
            if _in_all(values[j], classes[begin + 2 : end], starts, values):
                found[i] = True
                break
    return found


@kernel
def _in_all(value, classes, starts, values):  # type: ignore[no-untyped-def]
    """Tell whether all of some classes have a value; those of a class are ascending."""
    for i in range(len(classes)):
        low, high = starts[classes[i]], starts[classes[i] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if values[middle] < value:
                low = middle + 1
            else:
                high = middle
        if low == end or values[low] != value:
            return False
    return True
