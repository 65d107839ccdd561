"""Which columns of a release single people out, before anything is drawn, and what the author may do."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence

from anon_pipeline.base.packed_tables import Table, factorize_column, unpack_table
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.evidence.acknowledged_shares import blank_acknowledgements, holds_for_all
from anon_pipeline.evidence.columns_of_names import columns_of_names, generalized_names
from anon_pipeline.evidence.culprits import Culprit, culprits
from anon_pipeline.evidence.free_texts import free_texts
from anon_pipeline.evidence.released_columns import (
    combined_codes,
    following_columns,
    identifies,
    shown_columns,
    telling_columns,
)
from anon_pipeline.policy.acknowledgements import hashed_columns
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import BUDGET, distinct_share, exceeding_sets

_NAMED = 10  # columns that are named, and combinations that are named of each
_COARSEN = "Coarsen {} (round, top, bottom, or a hierarchy with level)"
_LESS = "Set a smaller ε, so that most values are drawn as others"
_OWN_SHARE = "the largest share of different values that you answer for"
_BY_NAME = "its name says that it holds {}"
_BY_VALUES = "its values look like full names of people"
_GROUPED_NAMES = (
    "must not be generalized: its values look like full names of people, and a group of them would be "
    "released under a part of their names. Set role: identifier with action: drop; or replace the names by "
    "groups in the source, or with values_file under clean"
)
_WAY_OUT = "if its texts name nobody, add {}"
_WRITE = "acknowledged: [{{columns: [{}], share: {}, who: …, when: {}, why: …, until: …}}]"


def utc_today() -> datetime.date:
    """Return the day of now, in UTC, on which acknowledgements hold or have lapsed."""
    return datetime.datetime.now(datetime.UTC).date()


def identifying_columns(
    frame: Table,
    policy: Policy,
    *,
    today: datetime.date,
    following: Sequence[str] | None = None,
    holding: Mapping[str, str] | None = None,
    budget: int = BUDGET,
) -> list[str]:
    """List which columns single people out or follow them and are not acknowledged, with what to write.

    Measured are all records of the input, missing values left aside, as the values would be published:
    coarsened, before suppression. Where the policy names a person, each person counts once with each value.
    Columns with noise and generalized ones are none of these, but for categories that are mostly kept, and
    generalized names of people.

    Args:
        frame: (n, columns) the table of `deidentified` or `k_anonymized`.
        today: day on which acknowledgements must hold.
        following: what `following_columns` named; None: it is asked, of a table of `deidentified`.
        holding: what `held_identifiers` named, which only the input shows; None: nothing.
        budget: see `risk.singling_out.exceeding_sets`.
    Returns:
        Names of columns and what to do; no number that was measured, no value.
    """
    singles = [name for name in shown_columns(policy) if identifies(frame, name)]
    follow = following_columns(frame, policy) if following is None else following
    suspected = dict.fromkeys(name for name in follow if name not in singles)
    named: dict[tuple[str, ...], str] = {
        (name,): _BY_VALUES for name in columns_of_names(frame, policy) if name not in singles
    }
    named |= {
        columns: _BY_NAME.format(said)
        for columns, said in telling_columns(frame, policy)
        if not {*columns} & {*singles}
    }
    names = [name for name in policy.insensitive if name not in singles]
    held = holding or {}
    free = [
        (name,)
        for name in free_texts(frame, policy, allowed=policy.gate.released_identifiers)
        if name not in singles and name not in held
    ]
    lines = _unanswered_sets(frame, policy, [(name,) for name in suspected if (name,) not in named], today)
    telling = _unanswered_sets(frame, policy, list(named), today)
    alone = [name for columns in (*lines, *telling) for name in columns]
    return [
        *(_alone(policy, name) for name in singles),
        *_hash_messages(frame, policy, today),
        *_holding_messages(frame, policy, held, today),
        *(_free(policy, columns, today) for columns in _unanswered_sets(frame, policy, free, today)),
        *(_following_message(policy, name, today) for (name,) in lines),
        *(_name_message(policy, columns, named[columns], today) for columns in telling),
        *(f"{name}: {_GROUPED_NAMES}" for name in generalized_names(frame, policy)),
        *_together(frame, policy, names, alone, today=today, budget=budget),
        *blank_acknowledgements(frame, policy, today),
    ]


def allowed_share(policy: Policy, names: Sequence[str], days: Sequence[datetime.date]) -> float:
    """Return the largest share of the records that columns together may single out.

    Args:
        names: of insensitive columns.
        days: on one of which what is acknowledged of them must hold.
    """
    held = [_acknowledged_share(policy, names, day) or 0.0 for day in days]
    return max([policy.gate.released_identifiers, *held])


def _alone(policy: Policy, name: str) -> str:
    """Say that a column singles people out like an identifier."""
    column, of = policy.columns[name], "values present" if policy.person is None else "people with a value"
    rule = f"{name}: must not have half as many different values as {of} or more"
    if not isinstance(column, Coarsened):
        return (
            f"{rule}, as identifiers do, if the draw keeps most values. {_LESS}, or set role: identifier "
            "with action: drop"
        )
    more = " more" if column.coarse else ""
    return (
        f"{rule}: that distinguishes people as an identifier does (empty cells do not count). "
        f"{_COARSEN.format('it' + more)}, or set role: identifier with action: drop"
    )


def _holding_messages(
    frame: Table, policy: Policy, holding: Mapping[str, str], today: datetime.date
) -> Iterator[str]:
    """Yield the columns with values of an identifier that nobody answers for."""
    for (name,) in _unanswered_sets(frame, policy, [(name,) for name in holding], today):
        yield _holding_message(policy, [name], holding[name], today)


def _holding_message(policy: Policy, columns: Sequence[str], identifier: str, today: datetime.date) -> str:
    """Say that values of an identifier stand in a released column, and nobody answers for that."""
    return (
        f"{columns[0]}: contains values of the identifier {identifier}, which is dropped because it names "
        f"people{_unheld(policy, columns, today, just=True)}. Set role: identifier with action: drop, or "
        f"{_WAY_OUT.format(_WRITE.format(columns[0], _OWN_SHARE, today))}"
    )


def _free(policy: Policy, columns: Sequence[str], today: datetime.date) -> str:
    """Say that a column holds free text, and nobody answers for it."""
    return (
        f"{columns[0]}: more than {policy.gate.released_identifiers:.3g} of the {_unit(policy)} have a "
        "text of three or more words that nobody else has; such texts may name "
        f"people{_unheld(policy, columns, today, just=True)}. Coarsen it by a hierarchy with level, set "
        "role: identifier with action: drop, or "
        f"{_WAY_OUT.format(_WRITE.format(columns[0], _OWN_SHARE, today))}"
    )


def _unit(policy: Policy) -> str:
    return "records" if policy.person is None else "people"


def _following_message(policy: Policy, name: str, today: datetime.date) -> str:
    """Say that records can be put together by a column, and nobody answers for that."""
    one = "finding one of them then reveals all"
    many = "finding one person of a group, such as a household, then reveals the others"
    known = policy.person is None and policy.record_key is not None
    unsaid = policy.person is None and policy.record_key is None
    people = ", and set person, if a person has several records" if unsaid else ""
    follows = many if known else f"{one}; if each record is of another person, {many}" if unsaid else one
    return (
        f"{name}: records with the same value agree in their quasi-identifiers more often than by chance, as "
        f"{'those of a household' if known else 'those of one person'} do: "
        f"{follows}{_unheld(policy, [name], today, just=True)}. {_way_out(policy, name)}, set role: "
        f"identifier with action: drop{people}, or, if it is about groups and not about people, add "
        f"{_WRITE.format(name, _OWN_SHARE, today)}"
    )


def _name_message(policy: Policy, columns: Sequence[str], said: str, today: datetime.date) -> str:
    """Say that the names of columns, or the values of one, say identifier, and nobody answers for them."""
    return (
        f"{', '.join(columns)}: must not be released: "
        f"{said}{_unheld(policy, columns, today, just=True)}. Set role: identifier with action: drop. "
        f"{_way_out(policy, columns[0])}; or, if it holds something else, acknowledge it: add "
        f"{_WRITE.format(', '.join(columns), _OWN_SHARE, today)}"
    )


def _way_out(policy: Policy, name: str) -> str:
    return _COARSEN.format("it") if isinstance(policy.columns[name], Coarsened) else _LESS


def _unanswered_sets(
    frame: Table, policy: Policy, sets: Sequence[tuple[str, ...]], today: datetime.date
) -> list[tuple[str, ...]]:
    """Return those sets of columns for which nobody answers: for just these, and so many different values."""

    def is_answered(columns: tuple[str, ...]) -> bool:
        """Tell whether what is acknowledged of just these columns covers what was measured."""
        shares = [
            one.share
            for one in policy.acknowledged
            if {*one.columns} == {*columns} and one.covers(columns, today)
        ]
        return bool(shares) and distinct_share(combined_codes(frame, columns)) <= max(shares)

    return [columns for columns in sets if not is_answered(columns)]


def _hash_messages(frame: Table, policy: Policy, today: datetime.date) -> Iterator[str]:
    """Yield the released pseudonyms that nobody answers for."""
    for name in hashed_columns(policy.columns):
        share = _acknowledged_share(policy, [name], today)
        if share is None:
            yield (
                f"{name}: a released hash follows a person through this table and others, and must be "
                f"acknowledged{_unheld(policy, [name], today)}. Set action: drop, or add "
                f"{_WRITE.format(name, 1, today)}"
            )
        elif distinct_share(factorize_column(frame, name)[0]) > share:
            yield (
                f"{name}: a released hash must have no more different values than is acknowledged"
                f"{_unheld(policy, [name], today)}. Set action: drop, or decide on a larger share"
            )


def _acknowledged_share(policy: Policy, names: Sequence[str], today: datetime.date) -> float | None:
    """Return the largest share that is acknowledged of columns; None where nothing is."""
    return max((one.share for one in policy.acknowledged if one.covers(names, today)), default=None)


def _unheld(policy: Policy, names: Sequence[str], today: datetime.date, *, just: bool = False) -> str:
    """Say why an acknowledgement of columns that are refused does not hold: its days, or its share.

    Its share is said, and that the measured one exceeds it, which the refusal says anyway; the measured one
    is the curator's.

    Args:
        just: whether only acknowledgements of just these columns count.
    """
    others = [
        one
        for one in policy.acknowledged
        if set(names) <= set(one.columns) and not (just and len(one.columns) > len(names))
    ]
    held = [one.share for one in others if one.covers(names, today)]
    if held:
        return f" (what was measured exceeds the share of {max(held):.3g} that is acknowledged)"
    if others:
        return f" (an acknowledgement holds from {others[-1].when} until {others[-1].until} alone)"
    return ""


def _together(
    frame: Table,
    policy: Policy,
    names: list[str],
    named: Sequence[str],
    *,
    today: datetime.date,
    budget: int,
) -> Iterator[str]:
    """Yield the columns without which no combination of insensitive ones singles out more than it may.

    Args:
        named: columns that are refused alone: they are changed anyway, so they come first.
    """
    whole = [
        {*one.columns}
        for one in policy.acknowledged
        if {*one.columns} <= {*names} and one.covers((), today) and holds_for_all(frame, policy, one)
    ]

    def share_allowed(chosen: tuple[int, ...]) -> float:
        """Return the share of the records that the columns at these places may single out together."""
        some = [names[j] for j in chosen]
        if any(columns.issuperset(some) for columns in whole):
            return 1.0  # they are within what is acknowledged, and need not be counted
        return allowed_share(policy, some, [today])

    once = unpack_table(frame[[PERSON, *names]]).drop_duplicates() if PERSON in frame else frame
    codes = {name: factorize_column(once, name)[0] for name in names}
    found = exceeding_sets(list(codes.values()), share_allowed, budget=budget)
    different = {name: int(column.max(initial=-1)) for name, column in codes.items()}
    sets = [tuple(names[j] for j in chosen) for chosen in found.sets]
    refused = culprits(sets, different, named=named)
    yield from (_culprit(policy, one, today) for one in refused[:_NAMED])
    if len(refused) > _NAMED:
        yield "further combinations of insensitive columns, not named here, single out as many"
    if not found.complete:
        yield (
            "the insensitive columns have too many combinations to be counted. Drop, coarsen or generalize "
            f"some, or acknowledge those together that single out many: "
            f"{_WRITE.format('…', 'the largest that you answer for', today)}"
        )


def _culprit(policy: Policy, culprit: Culprit, today: datetime.date) -> str:
    """Say which column to make coarser first, and together with which others it singles people out."""
    more = " more" if culprit.name in policy.coarsened else ""
    terms = [
        f"with {' and '.join(others)}{_unheld(policy, columns, today)}"
        for columns, others in zip(culprit.sets, culprit.others, strict=True)
    ]
    listed = ", ".join(terms[:_NAMED]) + (", and others" if len(terms) > _NAMED else "")
    written = _WRITE.format(", ".join(culprit.sets[0]), "the largest that you answer for", today)
    each = " for each combination" if len(terms) > 1 else ""
    return (
        f"{culprit.name}: must not single out more than {policy.gate.released_identifiers:.3g} of the "
        f"records together {listed}. {_COARSEN.format(culprit.name + more + ' first')}, "
        f"generalize or drop it, or add {written}{each}"
    )
