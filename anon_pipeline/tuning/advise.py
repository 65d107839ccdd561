"""After a refusal: the one or two changes of the policy that would most likely pass, foreseen without a draw.

Looked at are smaller ε, other confidences and larger k around the policy's own point, by the closed forms of
tuning; nothing is drawn for a release and no ε is spent. What is said names values of the policy alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product, zip_longest
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import (
    ANOTHER_DRAW,
    AnonPipelineError,
    GateRefused,
    InfeasibleError,
    InputError,
    PolicyError,
    private_stage,
)
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.gate import GateReport
from anon_pipeline.limits.linking import SUPPRESSION
from anon_pipeline.limits.table import advice_on, limit_of
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources import read_source
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.grid import Choice, Grid, choices, policy_at
from anon_pipeline.tuning.hidden_columns import advise_on_hidden
from anon_pipeline.tuning.limit_forecasts import verdicts
from anon_pipeline.tuning.recode_input import Recoded, input_to_recode, recode_input
from anon_pipeline.tuning.results import Point

_SHARES = (0.5, 0.25)
"""Of the policy's ε, the smallest change first."""
_TIMES = (1.5, 3)
"""The policy's k times these."""
_CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
_NOTHING_NEAR = (
    "no smaller ε, larger k or other confidence near the policy's is expected to pass. Compare more of them: "
    "anon-pipeline tune."
)
_NO_OTHER_K = "no larger k near the policy's is expected to pass. Compare more of them: anon-pipeline tune."
_CLASSES_GIVEN = (
    "nothing near the policy is expected to pass with these classes (anonymize.classes). Make others: of a "
    "table that was divided, change k or other keys in the policy of the whole table, and divide it again."
)
_FEWER_LOST = " A smaller k or coarser hierarchies leave out fewer records, if you can answer for them."
_LACKING = (
    " Records without a value in a column with missing: suppress are left out, too: complete the data, or "
    "give such a column another role."
)
_OTHERS = (
    "take a larger amount, another mechanism or a larger k. Compare them: anon-pipeline compare POLICY "
    "--with KEY=VALUE."
)
"""For columns that are changed as a whole, of which nothing can be computed without a release."""
NO_ADVICE = (
    "no advice could be computed, which does not change that the gate refused the release. Compare points: "
    "anon-pipeline tune."
)
_FREE = "this advice cost none, and was computed from the originals"
_SEED = 0  # of simulated noise, which no release ever has


def advise(
    policy: Policy,
    before: Callable[[], Staged],
    refused: Sequence[str],
    *,
    hierarchies: Path,
    observe: Observer = ignore,
) -> list[str]:
    """Say what to change in a policy by which the gate refused a release.

    Args:
        before: returns the table that was recoded, see `input_to_recode`.
        refused: names of the limits that were not kept.
    Returns:
        A line each: the changes that would most likely pass, if tuning can judge a limit; the advice of each
        limit that it cannot judge; what another draw costs. Where a change cannot be computed, that: the
        release is refused all the same.
    """
    foreseen = [name for name in refused if limit_of(name).forecast.is_possible]
    found, otherwise = None, _OTHERS if policy.changed_columns else _nothing_near(policy, refused)
    if foreseen and not policy.changed_columns:
        try:
            observe(Step("what would pass"))
            with private_stage("advice"):
                found = _change(_Near(policy, before(), hierarchies), foreseen)
        except AnonPipelineError:  # a bug, too, is one behind `private_stage`; an interrupt is none
            otherwise = NO_ADVICE
    lines = [f"{', '.join(foreseen)}: {found or otherwise}"] if foreseen else []
    if found is None and any(limit_of(name).usefulness == "recoding" for name in refused):
        lines += _advice_on_hidden(policy, before, hierarchies, observe)
    others = [name for name in refused if not (limit_of(name).forecast.is_possible and found)]
    said = ((limit_of(name).name, advice_on(name, policy)) for name in others)
    lines += dict.fromkeys(f"{name}: {advice}" for name, advice in said if advice)
    return [*lines, f"({ANOTHER_DRAW}; {_FREE})"] if lines else []


def _advice_on_hidden(
    policy: Policy, before: Callable[[], Staged], hierarchies: Path, observe: Observer
) -> Iterator[str]:
    """Say what leaves something of hidden columns; nothing where that cannot be computed."""
    try:
        with private_stage("advice"):
            found = advise_on_hidden(policy, before, hierarchies=hierarchies, observe=observe)
    except AnonPipelineError:  # as in `advise`
        return
    yield from found


def _nothing_near(policy: Policy, refused: Sequence[str]) -> str:
    """Say that no change that was tried is expected to pass, and what else leaves records out."""
    if policy.anonymize.classes is not None:
        return _CLASSES_GIVEN
    said = _NOTHING_NEAR if policy.perturb is not None else _NO_OTHER_K
    if SUPPRESSION.name not in refused:
        return said
    lacking = any(getattr(column, "missing", None) == LEFT_OUT for column in policy.columns.values())
    return said + _FEWER_LOST + (_LACKING if lacking else "")


@contextmanager
def with_advice(
    policy: Policy, locations: Locations, *, partition: str | None = None, observe: Observer = ignore
) -> Iterator[None]:
    """Let a refusal of the gate say what to change in the policy, if somebody asks: the source is read again.

    Raises:
        GateRefused: with its ``advises``.
    """

    def before() -> Staged:
        """Return the table that would be recoded, read anew."""
        locations.confine(policy, partition)
        frame = read_source(policy, folder=locations.sources, partition=partition)
        return input_to_recode(policy, frame, hierarchies=locations.hierarchies)

    try:
        yield
    except GateRefused as error:
        if isinstance(error.report, GateReport):
            refused, folder = limits_refused(error.report), locations.hierarchies
            error.advises = partial(advise, policy, before, refused, hierarchies=folder, observe=observe)
        raise


def limits_refused(report: GateReport) -> list[str]:
    """Name the limits that were measured and not kept."""
    return [verdict.limit for verdict in report.with_status(Status.REFUSED)]


def _change(near: _Near, refused: Sequence[str]) -> str | None:
    """Name the smallest change that is expected to pass; None: there is none near the policy."""
    found = next(_passing_points(near, refused), None)
    if found is None:
        return None
    return f"{' and '.join(_differences(near.own, found.choice))}, all else as it is, is expected to pass."


def _passing_points(near: _Near, refused: Sequence[str]) -> Iterator[Point]:
    """Yield points that are expected to pass, and to keep what was refused better than the policy does."""
    here = near.point(near.own)
    for choice in near_choices(near.own):
        found = near.point(choice)
        if found is not None and found.passes and (here is None or _keeps_more(found, here, refused)):
            yield found


def _keeps_more(found: Point, here: Point, refused: Sequence[str]) -> bool:
    """Tell whether limits are kept, and by more than at another point: one draw was not enough of a proof."""
    own = {verdict.limit: verdict for verdict in here.verdicts}
    for verdict in found.verdicts:
        if verdict.limit in refused and verdict.value is not None:
            before = own[verdict.limit].value or 0.0
            closer = verdict.value > before if verdict.sense == "at least" else verdict.value < before
            if not closer or verdict.status is not Status.PASSED:
                return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """A policy, its data before recoding, and the recodings of it that were made, by k; None: impossible."""

    policy: Policy
    before: Staged = field(repr=False)
    hierarchies: Path
    tables: dict[int, Recoded | None] = field(default_factory=dict, repr=False)

    @property
    def own(self) -> Choice:
        """The policy's own point."""
        return choices(self.policy, Grid())[0]

    def point(self, choice: Choice) -> Point | None:
        """Judge a point; None where it is no policy, has no recoding, or no noise that could be drawn."""
        try:
            policy = policy_at(self.policy, choice)
            if choice.k not in self.tables:
                self.tables[choice.k] = None
                self.tables[choice.k] = recode_input(policy, self.before, hierarchies=self.hierarchies)
            table = self.tables[choice.k]
            if table is None:
                return None
            expected = expect(policy, table, entropy=seeded_entropy(_SEED))
        except (PolicyError, InfeasibleError, InputError):
            return None
        return Point(choice, expected, verdicts(policy, expected))


def near_choices(own: Choice) -> list[Choice]:
    """Return the points near a policy's own: one change before two, small ones before large ones.

    >>> [(c.k, c.epsilon) for c in near_choices(Choice(4, 2.0, None, "ola"))][:5]
    [(4, 1.0), (6, 2.0), (4, 0.5), (12, 2.0), (6, 1.0)]
    """
    epsilons = [] if own.epsilon is None else [{"epsilon": own.epsilon * share} for share in _SHARES]
    confidences = [{"confidence": one} for one in _other_confidences(own.confidence)]
    ks = [{"k": math.ceil(own.k * times)} for times in _TIMES]
    kinds: tuple[list[dict[str, Any]], ...] = (epsilons, confidences, ks)
    ones = [change for step in zip_longest(*kinds) for change in step if change is not None]
    twos = [a | b for one, other in combinations(kinds, 2) for a, b in product(one, other)]
    return [own._replace(**change) for change in (*ones, *twos)]


def _other_confidences(own: float | None) -> list[float]:
    """Return the next larger confidence, and the next smaller one; none for a policy without."""
    if own is None:
        return []
    larger = [one for one in _CONFIDENCES if one > own]
    smaller = [one for one in _CONFIDENCES if one < own]
    return [*larger[:1], *smaller[-1:]]


def _differences(own: Choice, choice: Choice) -> Iterator[str]:
    """Name what differs, as it stands in the policy."""
    if choice.epsilon != own.epsilon:
        yield f"perturb.epsilon: {choice.epsilon:g}"
    if choice.k != own.k:
        yield f"anonymize.k: {choice.k}"
    if choice.confidence != own.confidence:
        yield f"suppress.confidence: {choice.confidence:g}"
