"""From a policy, a table and a grid to what to choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InfeasibleError, private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.order import count_different
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.threads import side_by_side
from anon_pipeline.catalog.mechanisms import amount_kind
from anon_pipeline.evidence.evidence import people_in
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import placeless
from anon_pipeline.sources import read_source
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.choose import choose_point, mark_front, nearest
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.grid import Choice, Grid, choices, default_grid, policy_at
from anon_pipeline.tuning.limit_forecasts import limits_not_judged, verdicts
from anon_pipeline.tuning.measured_points import choices_with_amounts, measure_points
from anon_pipeline.tuning.recode_input import Recoded, input_to_recode, recode_input
from anon_pipeline.tuning.results import Impossible, Point, Tuning

_SEED = 0  # of simulated noise, which no release ever has: the same grid gives the same numbers


def tune(
    policy: Policy,
    frame: pd.DataFrame,
    grid: Grid | None = None,
    *,
    hierarchies: str | Path = ".",
    outside: bool = False,
) -> Tuning:
    """Say what to expect of each point of a grid, which pass the gate's limits, and which to take.

    Nothing is released, written or spent. The result does not depend on the order of the records.

    Args:
        policy: whose k, ε, confidence and recoder are varied; all else is kept.
        frame: (n, columns) personal data.
        grid: default: `default_grid`.
        outside: whether the policy's paths may leave that folder.
    Raises:
        PolicyError: a point that is no policy, such as a recoder that does not fit another option.
        InputError: the data does not fit the policy; a grid that does not fit it, or is too large; a path
            that leaves its folder.
    Source:
        [methods 7, 8, 9]; [DB 2.7] for the map.
    """
    folder = Path(hierarchies)
    places = Locations(folder, folder, folder, folder, outside=outside)
    places.confine(policy.model_copy(update={"source": placeless()}))  # the frame takes its place
    return tune_confined(policy, frame, grid, locations=places)


def tune_confined(
    policy: Policy,
    frame: Table,
    grid: Grid | None = None,
    *,
    locations: Locations,
    observe: Observer = ignore,
) -> Tuning:
    """Do what `tune` does, with paths that are held to their folders already, and say how far it is.

    Args:
        policy: see `tune`.
        frame: see `tune`.
        grid: see `tune`.
        locations: of the hierarchies, and of the population that the gate may need.
        observe: called with what is being done, and now and then with how far a search is.
    Raises:
        PolicyError, InputError: see `tune`.
    """
    wanted = choices(policy, default_grid(policy) if grid is None else grid)
    if policy.changed_columns:
        wanted = [one for choice in wanted for one in choices_with_amounts(policy, choice)]
    policies = {choice: policy_at(policy, choice) for choice in wanted}  # all mistakes before any work
    with private_stage("tune"):
        if policy.changed_columns:
            points, impossible = measure_points(policies, frame, locations, observe=observe)
            people, refused = None, None  # what is left out of such releases is measured by records
        else:
            before = input_to_recode(policy, frame, hierarchies=locations.hierarchies)
            points, impossible = _compute_points(policies, before, locations, observe=observe)
            people, refused = _population(policy, before), _refused_anyhow(policy, before)
        marked = mark_front(points)
    chosen, rule = choose_point(marked)
    return Tuning(
        marked,
        impossible,
        chosen,
        rule,
        nearest(marked),
        () if policy.changed_columns else limits_not_judged(policy),
        records=len(frame),
        simulated=_why_simulated(policy),
        without_amount={
            name: kind for name, kind in policy.changed_columns.items() if amount_kind(kind) == "none"
        },
        people=people,
        refused=refused,
    )


def _refused_anyhow(policy: Policy, before: Staged) -> str | None:
    """Say why the gate refuses every point: people seem to have several records; None: nothing does."""
    judged = REPEATED_PEOPLE.judged.before_drawing
    asked = [one for one in REPEATED_PEOPLE.demands(policy) if not one.advised]
    return judged(asked[0], policy, before) if judged is not None and asked else None


def _population(policy: Policy, before: Staged) -> int | None:
    """Count the people of the input; None where records are counted."""
    people = people_in(before.frame, policy)
    return None if people is None else count_different(people)


def _compute_points(
    policies: Mapping[Choice, Policy], before: Staged, locations: Locations, *, observe: Observer
) -> tuple[list[Point], tuple[Impossible, ...]]:
    """Compute the points from the distribution of the noise."""
    folder = locations.hierarchies
    return _all_points(policies, partial(_recode, policies, before, hierarchies=folder, observe=observe))


def _all_points(
    policies: Mapping[Choice, Policy], recode: Callable[[Choice], Recoded | Exception]
) -> tuple[list[Point], tuple[Impossible, ...]]:
    """Compute the points of one recoding while the next one is made: neither needs the other.

    What a point draws depends on nothing but itself. Errors are raised in the order of the points.
    """
    points: list[Point] = []
    impossible: list[Impossible] = []
    parts = [[*own] for _, own in groupby(policies, key=lambda choice: (choice.k, choice.recoder))]
    table = recode(parts[0][0]) if parts else None
    for own, following in zip_longest(parts, parts[1:]):
        tasks: list[Callable[[], Any]] = [partial(recode, following[0])] if following else [lambda: None]
        if isinstance(table, InfeasibleError):
            impossible.append(Impossible(own[0].k, own[0].recoder, table.reached_k))
        elif isinstance(table, Exception):
            raise table
        elif table is not None:
            tasks += [partial(_point, table, policies, choice) for choice in own]
        table, *found = side_by_side(tasks)
        points += found
    return points, tuple(impossible)


def _recode(
    policies: Mapping[Choice, Policy], before: Staged, choice: Choice, *, hierarchies: Path, observe: Observer
) -> Recoded | Exception:
    """Recode the input for all points with a choice's k and recoder; return what is raised."""
    observe(Step(f"{choice.recoder}, k = {choice.k}"))
    try:
        return recode_input(policies[choice], before, hierarchies=hierarchies, observe=observe)
    except Exception as error:  # noqa: BLE001 - raised in the order of the points
        return error


def _why_simulated(policy: Policy) -> str:
    """Say why what the noise does has no closed form here; see `expect`."""
    if policy.changed_columns:
        return "Columns that are changed as a whole"
    if policy.person is not None and policy.perturbed:
        return "People with several records"
    return "Several perturb columns" if len(policy.perturbed) > 1 else ""


def _point(table: Recoded, policies: Mapping[Choice, Policy], choice: Choice) -> Point:
    policy = policies[choice]
    found = expect(policy, table, entropy=seeded_entropy(_SEED))
    return Point(choice, found, verdicts(policy, found))


def source_of(policy: Policy, locations: Locations, *, partition: str | None = None) -> Table:
    """Read the policy's source.

    Raises:
        InputError: see `sources.read_source`.
    """
    locations.confine(policy, partition)
    with private_stage("source"):
        return read_source(policy, folder=locations.sources, partition=partition)
