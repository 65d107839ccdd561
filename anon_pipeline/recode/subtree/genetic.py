"""A genetic search: fronts are crossed and changed at random, and the best of many generations stays."""

from __future__ import annotations

import bisect
from typing import Final

import numpy as np

from anon_pipeline.recode.subtree.search import (
    Outcome,
    Search,
    State,
    hidden_state,
    look_at,
    no_front_error,
    reached_in,
)

_STATES: Final = 100
_CHILDREN_EACH, _MOST_CHILDREN = 50, 2_500  # for each value that can be opened; in all
_CHANGED: Final = 3.0  # values of a child that are changed, on average
_SEED: Final = 2002  # of no meaning, but always the same


def _first_population(search: Search, random: np.random.Generator) -> list[State]:
    """Return the hidden state, and random ones, which open 2 % of the values to 90 % of them."""
    shares = np.linspace(0.02, 0.9, _STATES - 1)
    return [hidden_state(search), *(random.random(search.size) < share for share in shares)]


def _cross(one: State, other: State, random: np.random.Generator) -> State:
    """Make a child: the part between two places from one state, the rest from the other, and few changes."""
    child = one.copy()
    low, high = np.sort(random.integers(0, len(one) + 1, 2))
    child[low:high] = other[low:high]
    return child ^ (random.random(len(child)) < _CHANGED / max(1, len(child)))


def evolve(search: Search) -> State:
    """Cross and change states, the better ones more often; a child takes the place of the worst one.

    A state is a row of bits, one for each value that can be opened, as in the source, which crosses and
    changes such rows. States that break the constraints are worse than all others, and the worse the more
    records they would suppress. Random numbers are the same each time.

    Raises:
        InfeasibleError: no state that was seen keeps the constraints.
    Source:
        Iyengar (2002), "Transforming data to satisfy privacy constraints"; Whitley's GENITOR.
    """
    random = np.random.default_rng(_SEED)
    found: list[tuple[Outcome, bytes]] = []
    for state in _first_population(search, random):
        _add(search, found, state)
    for _ in range(min(_MOST_CHILDREN, _CHILDREN_EACH * search.size)):
        # The rank of a parent falls linearly: the best is twice as likely as the middle one.
        ranks = (len(found) * (1 - np.sqrt(random.random(2)))).astype(int)
        one, other = (np.frombuffer(found[rank][1], np.bool_) for rank in ranks)
        _add(search, found, _cross(one, other, random))
        del found[_STATES:]
    if found[0][0].excess:
        raise no_front_error(search)
    return np.frombuffer(found[0][1], np.bool_).copy()


def _add(search: Search, found: list[tuple[Outcome, bytes]], state: State) -> None:
    """Put a state among the others, the best first, unless one with the same fronts is there."""
    entry = (look_at(search, state), (state & reached_in(search, state)).tobytes())
    place = bisect.bisect_left(found, entry)
    if found[place : place + 1] != [entry]:
        found.insert(place, entry)
