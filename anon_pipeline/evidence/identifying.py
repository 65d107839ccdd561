"""Which columns of a release single people out, before anything is drawn, and what the author may do."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.policy.acknowledged import Acknowledged, hashed_columns
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import BUDGET, distinct_share, exceeding_sets, is_identifying

_NAMED = 10  # combinations that a message names
_COARSEN = "Coarsen {} (round, top, bottom, or a hierarchy with level)"
_WRITE = "acknowledged: [{{columns: [{}], share: {}, who: …, when: {}, why: …, until: …}}]"


def utc_today() -> datetime.date:
    """Return the day of now, in UTC, on which acknowledgements hold or have lapsed."""
    return datetime.datetime.now(datetime.UTC).date()


def identifying_columns(
    frame: pd.DataFrame, policy: Policy, *, today: datetime.date, budget: int = BUDGET
) -> list[str]:
    """List which columns single people out and are not acknowledged, with what to write.

    Measured are all records of the input, missing values left aside, as the values would be published:
    coarsened, before suppression. Columns with noise and generalized ones are none of these.

    Args:
        frame: (n, columns) the table of `deidentified` or `k_anonymized`.
        today: day on which acknowledgements must hold.
        budget: see `risk.singling_out.exceeding_sets`.
    Returns:
        Names of columns and what to do; no number that was measured, no value.
    """
    singles = list(_alone(frame, policy))
    hashed = list(_hashed(frame, policy, today))
    known = {line.partition(":")[0] for line in singles}
    names = [name for name in policy.insensitive if name not in known]
    return [*singles, *hashed, *_together(frame, policy, names, today=today, budget=budget)]


def _codes(series: pd.Series) -> NDArray[np.int64]:
    return pd.factorize(series)[0].astype(np.int64)


def _alone(frame: pd.DataFrame, policy: Policy) -> Iterator[str]:
    """Yield the columns that single people out like an identifier."""
    for name, column in policy.columns.items():
        if isinstance(column, Coarsened) and is_identifying(_codes(frame[name])):
            more = " more" if column.coarse else ""
            yield (
                f"{name}: must not have half as many different values as records or more, as identifiers do. "
                f"{_COARSEN.format('it' + more)}, or set role: identifier with action: drop"
            )


def _hashed(frame: pd.DataFrame, policy: Policy, today: datetime.date) -> Iterator[str]:
    """Yield the released pseudonyms that nobody answers for."""
    for name in hashed_columns(policy.columns):
        share = _acknowledged(policy, [name], today)
        if share is None:
            yield (
                f"{name}: a released hash follows a person through this table and others, and must be "
                f"acknowledged{_lapsed(policy, [name], today)}. Set action: drop, or add "
                f"{_WRITE.format(name, 1, today)}"
            )
        elif distinct_share(_codes(frame[name])) > share:
            yield f"{name}: must have no more different values than is acknowledged ({share:.0%} of all)"


def _acknowledged(policy: Policy, names: list[str], today: datetime.date) -> float | None:
    """Return the largest share that is acknowledged of columns; None where nothing is."""
    return max((one.share for one in policy.acknowledged if one.covers(names, today)), default=None)


def _lapsed(policy: Policy, names: list[str], today: datetime.date) -> str:
    """Say that an acknowledgement does not hold on this day."""
    others: list[Acknowledged] = [one for one in policy.acknowledged if set(names) <= set(one.columns)]
    if not others or _acknowledged(policy, names, today) is not None:
        return ""
    return f" (an acknowledgement holds from {others[-1].when} until {others[-1].until} alone)"


def _together(
    frame: pd.DataFrame, policy: Policy, names: list[str], *, today: datetime.date, budget: int
) -> Iterator[str]:
    """Yield the combinations of insensitive columns that single out more than they may."""
    usual = policy.gate.released_identifiers

    def allowed(chosen: tuple[int, ...]) -> float:
        return max(usual, _acknowledged(policy, [names[j] for j in chosen], today) or 0.0)

    found = exceeding_sets([_codes(frame[name]) for name in names], allowed, budget=budget)
    for chosen in islice(found.sets, _NAMED):
        together = [names[j] for j in chosen]
        yield (
            f"{', '.join(together)}: together must not single out more than {allowed(chosen):.3g} of the "
            f"records{_lapsed(policy, together, today)}. {_COARSEN.format('them')}, generalize or drop one, "
            f"or add {_WRITE.format(', '.join(together), 'the largest that you answer for', today)}"
        )
    if len(found.sets) > _NAMED:
        yield "further combinations of insensitive columns, not named here, single out as many"
    if not found.complete:
        yield (
            "the insensitive columns have too many combinations to be counted. Drop, coarsen or generalize "
            f"some, or acknowledge those together that may single out everybody: "
            f"{_WRITE.format('…', 1, today)}"
        )
