"""Columns that a recoding hides entirely: which changes of the policy, each tried, leave something of them.

Nothing is drawn for a release and no ε is spent: the table is recoded again, and what the gate would say is
foreseen by the closed forms of tuning. What is said names values of the policy and columns alone.

Belongs here: what is tried, and what is said of it. Does not belong here: what to change when the gate
refuses a release for other reasons (`tuning.advise`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from anon_pipeline.base.errors import InfeasibleError, InputError, PolicyError
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.catalog.recoders import OF_CELLS, recoder_of
from anon_pipeline.limits import usual
from anon_pipeline.limits.usefulness import RELEASED
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.limit_forecasts import verdicts
from anon_pipeline.tuning.recode_input import Recoded, recode_input

MOST_RECORDS = 100_000
"""Records of a table up to which changes are tried: each is a recoding of its own."""

_PARTS = (0.25, 0.5, 0.75, 1.0)  # of the way from the recoder's limit on suppression to the gate's
_SEED = 0  # of simulated noise, which no release ever has
_OPTIONS = ("levels", "classes", "gamma")  # of other recoders
_CELLS = {"recoder": OF_CELLS, "suppress": "cells", **dict.fromkeys(_OPTIONS)}
_IN_WORDS = f"anonymize.recoder: {OF_CELLS} with anonymize.suppress: cells"
_OTHERWISE = "Use fewer quasi-identifiers, or hierarchies with more levels."


class _Change(NamedTuple):
    """One change of the policy: in words, and the keys of each section."""

    words: str
    sections: Mapping[str, Mapping[str, Any]]


def advise_on_hidden(
    policy: Policy, before: Callable[[], Staged], *, hierarchies: Path, observe: Observer = ignore
) -> list[str]:
    """Say which changes of a policy leave something of more columns, and are expected to pass the gate.

    Args:
        before: returns the table that is recoded, see `recode_input.input_to_recode`.
    Returns:
        A line each: the changes that help, or that none of those tried does; and whether records that lack
        values use up the limit on suppression. None where no column is hidden, or nothing can be foreseen.
    """
    table = before()
    own = (
        None
        if policy.changed_columns or len(table.frame) > MOST_RECORDS
        else _try_recoding(policy, table, hierarchies)
    )
    if own is None or not own.hidden:
        return []
    helping, tried = [], []
    for family in _changes(policy):
        tried.append(family[0].words if len(family) == 1 else f"{family[0].words}, up to {family[-1].words}")
        for change in family:
            observe(Step(f"trying {change.words}"))
            left = _columns_left(policy, change, table, own, hierarchies)
            if left:
                helping.append(f"With {change.words}, {', '.join(left)} would no longer be hidden entirely.")
                break
    if not helping:
        helping = [f"Tried without success: {'; '.join(tried)}. {_OTHERWISE}"] if tried else [_OTHERWISE]
    return [*helping, *_lines_on_missing(policy, table)]


def _changes(policy: Policy) -> Iterator[list[_Change]]:
    """Yield what can be changed, the smallest change of each kind first."""
    wanted = policy.anonymize
    limits = _larger_limits(policy)
    if limits:
        yield [_limit_change(limit, {}) for limit in limits]
    if recoder_of(wanted.recoder).family.cells and wanted.suppress != "cells":
        yield [
            _Change(_IN_WORDS, {"anonymize": _CELLS}),
            *(_limit_change(limit, _CELLS) for limit in limits),
        ]
    smaller = max(usual.SMALLEST_K, wanted.k // 2)
    if smaller < wanted.k:
        gate = {key: smaller for key in ("k", "confidence_k") if getattr(policy.gate, key) is not None}
        keys = " and ".join(["anonymize.k", *(f"gate.{key}" for key in gate)])
        words = f"{keys}: {smaller} (if you can answer for it)"
        yield [_Change(words, {"anonymize": {"k": smaller}, "gate": gate})]


def _limit_change(limit: float, others: Mapping[str, Any]) -> _Change:
    with_cells = f"{_IN_WORDS} and " if others else ""
    return _Change(
        f"{with_cells}anonymize.suppression_limit: {limit:g}",
        {"anonymize": {**others, "suppression_limit": limit}},
    )


def _larger_limits(policy: Policy) -> list[float]:
    """Return larger limits on what the recoder may suppress, up to what the gate lets be missing."""
    own, gate = policy.anonymize.suppression_limit, policy.gate.suppression
    most = 1 - RELEASED if gate is None else min(gate, 1 - RELEASED)
    found = [math.floor(100 * (own + part * (most - own)) + 1e-9) / 100 for part in _PARTS]
    return [limit for limit in dict.fromkeys(found) if limit > own]


def _columns_left(
    policy: Policy, change: _Change, table: Staged, own: Recoded, hierarchies: Path
) -> list[str]:
    """Name the columns of which a change leaves something; none where it hides others or would be refused."""
    attributes: dict[str, Any] = policy.model_dump()
    for section, keys in change.sections.items():
        attributes[section] = (attributes[section] or {}) | dict(keys)
    try:
        changed = policy_from(attributes)
        found = _try_recoding(changed, table, hierarchies)
        if found is None or not {*found.hidden} < {*own.hidden}:
            return []
        expected = expect(changed, found, entropy=seeded_entropy(_SEED))
    except (PolicyError, InputError):
        return []
    passes = all(verdict.status.publishable for verdict in verdicts(changed, expected))
    return [name for name in own.hidden if name not in found.hidden] if passes else []


def _try_recoding(policy: Policy, table: Staged, hierarchies: Path) -> Recoded | None:
    """Recode the table; None where no recoding keeps the limits."""
    try:
        return recode_input(policy, table, hierarchies=hierarchies)
    except InfeasibleError:
        return None


def _lines_on_missing(policy: Policy, table: Staged) -> Iterator[str]:
    """Say that records without a value are left out, and use up what may be left out for k."""
    names = [
        name
        for name, column in policy.columns.items()
        if getattr(column, "missing", None) == LEFT_OUT and table.frame[name].isna().any()
    ]
    if names:
        yield (
            f"Records without a value in {', '.join(names)} (missing: suppress) are left out and use up "
            "anonymize.suppression_limit: complete the data, raise that limit, or leave the column out."
        )
