"""Top-down specialization: begin with everything hidden, and show what gains most, step by step."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from anon_pipeline.recode.subtree.search import (
    Outcome,
    Search,
    State,
    classes_of,
    hidden_state,
    no_front_error,
    outcome_of,
    reached_in,
)


class _Here(NamedTuple):
    """Where the search is: its state, how good that is, and its smallest class."""

    state: State
    outcome: Outcome
    smallest: int


class _Step(NamedTuple):
    """What opening one value was found to do.

    gain: by how much the score falls; negative where it rises.
    smallest: records of the smallest class then.
    at: number of open values when it was looked at; out of date if that has changed.
    """

    gain: int
    smallest: int
    at: int

    def worth(self, here: _Here) -> Fraction:
        """Return the gain, divided by 1 and the decrease of the smallest class in records."""
        return Fraction(self.gain, max(0, here.smallest - self.smallest) + 1)


def _stand(search: Search, state: State) -> _Here:
    """Look at a state."""
    found = classes_of(search, state)
    smallest = int(found.contents.sizes[~found.broken].min(initial=search.table.records))
    return _Here(state, outcome_of(search, found), smallest)


def _try(search: Search, here: _Here, place: int) -> _Step | None:
    """Look at the state with one more value open; None where that breaks a limit."""
    opened = here.state.copy()
    opened[place] = True
    then = _stand(search, opened)
    if then.outcome.excess:
        return None
    return _Step(here.outcome.score - then.outcome.score, then.smallest, int(here.state.sum()))


class _Known(NamedTuple):
    """What is known of the values that can be opened: what they do, and which are refused."""

    steps: dict[int, _Step]
    refused: set[int]

    def look(self, search: Search, here: _Here, place: int) -> None:
        """Look at a value anew."""
        self.steps.pop(place, None)
        step = _try(search, here, place)
        if step is None:
            self.refused.add(place)
        else:
            self.steps[place] = step


def _next(search: Search, here: _Here, known: _Known) -> int | None:
    """Return the place that is opened next; None where there is none."""
    choices = np.flatnonzero(reached_in(search, here.state) & ~here.state).tolist()
    for place in choices:
        if place not in known.steps and place not in known.refused:
            known.look(search, here, place)
    while known.steps:
        place, now = _best(known.steps, here), here.state.sum()
        if known.steps[place].at == now:
            if known.steps[place].gain >= 0:
                return place
            stale = [other for other, step in known.steps.items() if step.at != now]
            if not stale:
                return None
            place = stale[0]  # what lost more before may lose less now
        known.look(search, here, place)
    return None


def _best(steps: dict[int, _Step], here: _Here) -> int:
    """Return the place of the step that is worth most; of equal ones, that gains most, then the first."""
    return max(steps, key=lambda place: (steps[place].worth(here), steps[place].gain, -place))


def top_down(search: Search) -> State:
    """Open one value after the other, as long as that keeps all constraints and loses no more.

    Each step opens the value with the largest gain / (1 + decrease of the smallest class): Fung's InfoGain /
    (AnonyLoss + 1), with the loss that the task names in place of the information about one class label. What
    a value does is looked at when it comes into the front, and again before it is opened or left, but not
    after every step. With k alone, what breaks the suppression limit now breaks it later, too.

    Raises:
        InfeasibleError: the whole table as one class does not keep the constraints.
    Source:
        Fung, Wang and Yu (2005), "Top-down specialization for information and privacy preservation".
    """
    here = _stand(search, hidden_state(search))
    if here.outcome.excess:
        raise no_front_error(search)
    known = _Known({}, set())
    opened = False  # since what was refused was last looked at
    while True:
        place = _next(search, here, known)
        if place is not None:
            here.state[place] = True
            del known.steps[place]
            here, opened = _stand(search, here.state), True
        elif opened and known.refused and search.task.constraints.sensitive:
            known.refused.clear()
            opened = False
        else:
            return here.state
