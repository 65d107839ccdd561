"""From proposed columns to a policy that a table can keep: tuned, rehearsed, columns left out until it fits.

The gate's limits are never made looser: what does not fit is left out, with a question for the author.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.catalog.detectors.name_hints import hint_rank
from anon_pipeline.draft.attributes import (
    Chosen,
    Place,
    attributes_of,
    owner_of,
    table_files,
    usual_choice,
)
from anon_pipeline.draft.private_files import write_table
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.proposals import Proposal, Sure, drop_instead
from anon_pipeline.draft.profile.questions import LEFT_OUT, NOISE_LEFT_OUT
from anon_pipeline.draft.rehearsal import Rehearsal, rehearse
from anon_pipeline.draft.tuned_people import count_people, tuned_rows, with_key_file
from anon_pipeline.policy.columns import Generalize, Perturb, Sensitive
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.choose import USEFUL, USEFUL_WITHOUT_EPSILON
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune_confined

MOST_TUNED = 20_000
"""Records that a policy is tuned and rehearsed on; fewer ones make k harder to keep."""
_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_FEW_EPSILONS = (1.0, 4.0, 8.0)
"""Of several columns with noise, whose risk is simulated for each point of the grid."""
_TIMES = (1, 2, 5)
_NOTHING = (
    "no column is left that can be generalized, and a release needs one: by it people are alike. Decide "
    "which column somebody could know of a person; `anon-pipeline profile` says why each was left out."
)
_CLASSES = 100  # classes of k that a table must have room for, where k is larger than usual
_TRIES = 24
_KEEP = 2  # quasi-identifiers that stay as long as something else can go


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A policy that was tuned, with what was decided on the way.

    proposals: one for each column, some of them now left out.
    chosen: k, ε, confidence.
    policy: the same as a policy.
    refused: limits that the rehearsal did not keep, with nothing left to leave out; none: it passed.
    problem: what stands in the way of any policy, for people; None: nothing.
    records: records that it was tuned on.
    compared: the k that tuning compared.
    telling: whether larger ones of them were passed over, since they leave one value in more columns.
    useful: whether the choice keeps the limits on usefulness; else it misses them least.
    drowned: columns that the noise moves further, on average, than their values spread.
    rehearsal: of the policy; None where none was made.
    """

    proposals: tuple[Proposal, ...]
    chosen: Chosen
    policy: Policy
    refused: tuple[str, ...] = ()
    problem: str | None = None
    records: int = 0
    compared: tuple[int, ...] = ()
    telling: bool = False
    useful: bool = True
    drowned: tuple[str, ...] = ()
    rehearsal: Rehearsal | None = None


@dataclass(frozen=True, slots=True)
class _Tuned:
    """What tuning chose: see the same of `Fitted`."""

    chosen: Chosen
    compared: tuple[int, ...] = ()
    telling: bool = False
    useful: bool = True
    drowned: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class _Attempt:
    """The proposals as they stand."""

    profile: Profile
    place: Place
    frame: pd.DataFrame = field(repr=False)
    folder: Path
    observe: Observer
    proposals: list[Proposal]

    def policy(self, chosen: Chosen) -> Policy:
        """Return the policy of the proposals, its tables written."""
        for name, path in table_files(self.proposals, self.place).items():
            write_table(self.folder / path, next(p.rows for p in self.proposals if p.name == name))
        attributes = attributes_of(self.profile, self.proposals, self.place, chosen)
        return policy_from(with_key_file(attributes, self.folder))

    @property
    def people(self) -> int:
        """How many people the table is about; without a column that says whose a record is, its records."""
        owner = owner_of(self.proposals)
        return count_people(self.frame, None if owner is None else owner.name)

    def leave_out(self, name: str, reason: str) -> None:
        """Leave a column out, with a question."""
        self.proposals = [
            drop_instead(proposal, reason, _question_of(proposal)) if proposal.name == name else proposal
            for proposal in self.proposals
        ]


def _question_of(proposal: Proposal) -> str:
    """Return what is asked of a column that is left out; noise has no hierarchy that could be coarser."""
    return NOISE_LEFT_OUT if isinstance(proposal.column, Perturb) else LEFT_OUT


def fit(profile: Profile, frame: pd.DataFrame, place: Place, *, observe: Observer = ignore) -> Fitted:
    """Make a policy of a profile that its table can keep.

    Nothing is written but tables in a folder that is removed, nothing published, no ε spent.

    Args:
        profile: of the table.
        frame: (n, columns) the table as it was read.
        place: of its file.
        observe: called with what is being done.
    Raises:
        InputError: no column is left that could be generalized.
    """
    owner = owner_of(profile.proposals)
    rows = tuned_rows(profile.records, None if owner is None else frame[owner.name], MOST_TUNED)
    some = frame if rows is None else frame.iloc[rows].reset_index(drop=True)
    with tempfile.TemporaryDirectory() as folder, private_stage("draft"):
        attempt = _Attempt(profile, place, some, Path(folder), observe, list(profile.proposals))
        return _fit(attempt, usual_choice(profile.records if owner is None else owner.seen.different))


def _fit(attempt: _Attempt, usual: Chosen) -> Fitted:
    tuned, rehearsal, problem = _Tuned(usual), Rehearsal(), None
    for number in range(_TRIES):
        attempt.observe(Step(f"policy {number + 1}"))
        if not any(isinstance(p.column, Generalize) for p in attempt.proposals):
            raise InputError(_NOTHING)
        try:
            found = _tune(attempt, usual)
        except InputError as error:
            problem = "the table does not hold what the policy says of it"
            if not _leave_out_unread(attempt, error):
                break
            continue
        if found is None:
            rehearsal, problem = Rehearsal(), "no choice of k and ε keeps the limits"
            if not _leave_one_out(attempt, "the limits could not be kept with it"):
                break
            continue
        tuned, problem = found, None
        rehearsal = _rehearse(attempt, tuned.chosen)
        if not rehearsal.refused:
            tuned, rehearsal = _tell_more(attempt, usual, tuned, rehearsal)
        if not rehearsal.refused or not _leave_out_refused(attempt, rehearsal):
            break
    attributes = attributes_of(attempt.profile, attempt.proposals, attempt.place, tuned.chosen)
    return Fitted(
        tuple(attempt.proposals),
        tuned.chosen,
        policy_from(attributes),
        rehearsal.refused,
        problem,
        records=len(attempt.frame),
        compared=tuned.compared,
        telling=tuned.telling,
        useful=tuned.useful,
        drowned=tuned.drowned,
        rehearsal=rehearsal if problem is None and rehearsal.share else None,
    )


def _tell_more(
    attempt: _Attempt, usual: Chosen, tuned: _Tuned, rehearsal: Rehearsal
) -> tuple[_Tuned, Rehearsal]:
    """Take the largest k that hides the fewest columns: all are at least the usual k, and keep the limits."""
    for k in sorted((k for k in tuned.compared if k < tuned.chosen.k), reverse=True):
        if not rehearsal.silent:
            break
        found = _tune(attempt, usual, ks=(k,))
        if found is None:
            continue
        other = _rehearse(attempt, found.chosen)
        if not other.refused and len(other.silent) < len(rehearsal.silent):
            tuned, rehearsal = replace(found, compared=tuned.compared, telling=True), other
    return tuned, rehearsal


def _tune(attempt: _Attempt, usual: Chosen, *, ks: tuple[int, ...] | None = None) -> _Tuned | None:
    """Choose k and ε; None where no point of the grid passes.

    Args:
        ks: that are compared; None: the usual k, and multiples of it that the table has room for.
    Raises:
        InputError: a column does not hold what the policy says.
    """
    policy = attempt.policy(usual)
    several = len(policy.perturbed) > 1
    times = _TIMES[: 1 if several else None]
    ks = ks or tuple(
        usual.k * more for more in times if more == 1 or usual.k * more * _CLASSES <= attempt.people
    )
    epsilons = _FEW_EPSILONS if several else _EPSILONS if policy.perturb is not None else ()
    grid = Grid(k=ks, epsilon=epsilons)
    places = Locations(*(attempt.folder,) * 4)
    found = tune_confined(policy, attempt.frame, grid, locations=places)
    if found.recommended is None:
        return None
    choice = found.recommended.choice
    chosen = Chosen(choice.k, choice.epsilon or usual.epsilon, usual.confidence)
    return _Tuned(
        chosen,
        ks,
        useful=found.rule in (USEFUL, USEFUL_WITHOUT_EPSILON),
        drowned=tuple(found.recommended.expected.drowned),
    )


def _rehearse(attempt: _Attempt, chosen: Chosen) -> Rehearsal:
    """Rehearse the policy; that people may have several records only warns: the author must answer that."""
    policy, names = attempt.policy(chosen), [proposal.name for proposal in attempt.proposals]
    if policy.person is None:
        policy = policy.model_copy(update={"one_record_per_person": True})
    return rehearse(policy, attempt.frame, names, attempt.folder)


def _leave_out_refused(attempt: _Attempt, rehearsal: Rehearsal) -> bool:
    """Leave out what limits name, else one column; return whether there was one."""
    limits = ", ".join(rehearsal.refused)
    there = [p.name for p in attempt.proposals if not p.dropped and p.name in rehearsal.named]
    for name in there:
        attempt.leave_out(name, f"the gate refused it ({limits})")
    return bool(there) or _leave_one_out(attempt, f"the gate refused a release with it ({limits})")


def _leave_out_unread(attempt: _Attempt, error: InputError) -> bool:
    """Leave out the columns that an error names, else one; return whether there was one."""
    named = {problem.partition(": ")[0] for problem in error.problems}
    there = [p.name for p in attempt.proposals if not p.dropped and p.name in named]
    for name in there:
        attempt.leave_out(name, "its cells could not be read as proposed")
    return bool(there) or _leave_one_out(attempt, "the table could not be read with it")


def _leave_one_out(attempt: _Attempt, reason: str) -> bool:
    """Leave out the least certain column that distinguishes records most; return whether there was one."""
    open_ = [p for p in attempt.proposals if not p.dropped]
    quasi = [p for p in open_ if isinstance(p.column, Generalize)]
    spare = [p for p in open_ if not isinstance(p.column, Generalize) or len(quasi) > _KEEP]
    if not spare:
        return False
    attempt.leave_out(max(spare, key=_goes_first).name, reason)
    return True


def _goes_first(proposal: Proposal) -> tuple[bool, bool, int, float]:
    quasi = not isinstance(proposal.column, Sensitive)
    return (
        quasi and proposal.guess,
        proposal.sure is Sure.UNSURE,
        hint_rank(proposal.name),
        proposal.seen.distinction,
    )
