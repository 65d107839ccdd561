"""Simulated annealing: improve known fronts by random steps; early ones may increase the loss."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final

import numpy as np

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import prepare_search as prepare_lattice
from anon_pipeline.recode.subtree.search import Outcome, Search, State, look_at, no_front_error, reached_in
from anon_pipeline.recode.subtree.top_down import top_down
from anon_pipeline.recode.subtree.trees import opened_to

_STEPS_EACH, _MOST_STEPS = 50, 2_500  # for each value that can be opened; in all
_WARM, _COLD = 5e-2, 1e-4  # a loss by so much more is accepted with probability 1/e
_SEED: Final = 2002  # of no meaning, but always the same


def known_states(search: Search) -> list[State]:
    """Return what `top_down` finds, and what `optimal` does where its lattice can be searched."""
    found = []
    with suppress(InfeasibleError):  # the table as one class may keep no limits where levels do
        found.append(top_down(search))
    heights = [hierarchy.height for hierarchy in search.task.hierarchies]
    if math.prod(heights) <= search.task.most_nodes:
        lattice = prepare_lattice(search.task, search.table)
        try:
            levels = lattice.nodes.levels(optimal(lattice).node)
        except InfeasibleError:
            return found
        parts = [opened_to(tree, level) for tree, level in zip(search.trees, levels, strict=True)]
        found.append(np.concatenate([np.zeros(0, np.bool_), *parts]))
    return found


def _worse(search: Search, now: Outcome, then: Outcome) -> float:
    """Return by how much a state loses more than another one."""
    return float(search.units.loss(then.score) - search.units.loss(now.score))


def anneal(search: Search) -> State:
    """Open and close random values, and return the best state that was seen.

    It begins with the better one of the fronts of `top_down` and the levels of `optimal`, so it loses no more
    than either, before values of one name are one (`best_fronts`). A state that breaks a constraint is never
    taken. Random numbers are the same each time.

    Raises:
        InfeasibleError: neither of the two keeps the constraints.
    Source:
        Winkler (2002), "Using simulated annealing for k-anonymity".
    """
    states = [(look_at(search, state), place, state) for place, state in enumerate(known_states(search))]
    states = [one for one in states if not one[0].excess]
    if not states:
        raise no_front_error(search)
    now, _, state = min(states, key=lambda one: one[:2])
    best, kept = now, state.copy()
    random = np.random.default_rng(_SEED)
    steps = min(_MOST_STEPS, _STEPS_EACH * search.size)
    for step in range(steps):
        warmth = _WARM * (_COLD / _WARM) ** (step / steps)
        place = random.choice(np.flatnonzero(reached_in(search, state)))
        state[place] ^= True
        then = look_at(search, state)
        worse = _worse(search, now, then)
        if then.excess or (worse > 0 and random.random() >= math.exp(-worse / warmth)):
            state[place] ^= True
            continue
        now = then
        if now < best:
            best, kept = now, state.copy()
    return kept
