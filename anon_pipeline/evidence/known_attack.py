"""What an attacker who also knows values that are released as they are links: the mean over the noise.

The releases that the noise could have made are drawn once, and serve all sets of known columns. What costs
much is bounded: of large cells that no noise lets be distinguished a bound stands in, of others a sample.

Decision: docs/adr/0062-drawn-categories-with-everything-else.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, narrow_numbers
from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.sums import exact_sum
from anon_pipeline.encode.grids import grid_units
from anon_pipeline.evidence.assumed_changes import assumptions
from anon_pipeline.evidence.attackers import law_by_diameters
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expectation import Expectation
from anon_pipeline.evidence.informed_attack import informed_shares, mean_informed_share, table_of_cells
from anon_pipeline.evidence.known_categories import category_laws, codes_of, draw_codes
from anon_pipeline.evidence.known_people import DRAWS, PeopleAttack, Shown, in_order, people_attack
from anon_pipeline.evidence.known_table import SIMULATED_RECORDS, KnownTable, known_table
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.simulated_releases import DrawingTable
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.known_cells import (
    CLOSE,
    Cells,
    Hidden,
    cells_of,
    choose_evenly,
    looked_records,
    most_linked,
    right_guesses,
)
from anon_pipeline.risk.strata import combined_ratio, draws_of, groups_of

_SEED = 1  # of drawn categories and of samples, whatever input and policy
_PAIRS = 2**19  # of a record and an original that are compared for one set of columns, all draws together
_PAIRS_OF_PEOPLE = 2**21  # the same where people are counted: each one is looked at with all records

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KnownAttack:
    """Releases that could have been drawn, and what is known of the R records they are drawn of.

    ranks: (n,) of each column that is released as it is and may be known, of the n originals.
    hidden: the originals of all drawn values.
    categories: columns of categories, drawn or changed as a whole, in the order of ``hidden``.
    draws: some releases, with all drawn values; none where no draw leaves a record.
    groups: (R,) group of classes that each record's draws are counted in.
    people: (R,) whose record it is, where people are counted.
    informed: whether there are numbers that are changed as a whole: attackers who know how link more.
    made: cells by columns, kept from the mean over the noise until the share that was drawn is known.
    made_of_people: the same, with the people of the cells.
    most: what is linked of the cells at most, by columns; kept as long.
    seen: the evidence that was measured last, and its release.
    """

    table: DrawingTable
    ranks: Mapping[str, NDArray[np.integer]] = field(repr=False)
    hidden: Hidden = field(repr=False)
    categories: Sequence[str]
    draws: Sequence[Shown] = field(repr=False)
    groups: NDArray[np.int8] = field(repr=False)
    people: Integers | None = field(default=None, repr=False)
    informed: bool = False
    made: dict[tuple[str, ...], Cells] = field(default_factory=dict, repr=False)
    made_of_people: dict[tuple[str, ...], PeopleAttack] = field(default_factory=dict, repr=False)
    most: dict[tuple[str, ...], Reals] = field(default_factory=dict, repr=False)
    seen: list[tuple[Evidence, Shown]] = field(default_factory=list, repr=False)

    def over_noise(self, columns: Sequence[str]) -> Expectation:
        """Return the share of the released records that is correctly linked, on average over the noise.

        Where people are counted, that of the people with a released record: they are linked if at least one
        of their records is (`known_people`).

        Args:
            columns: that the attacker knows in addition to class, originals of noisy numbers and
                distributions: of categories he knows the original, of others the released value.
        Returns:
            The mean, its standard error, and how often noise was drawn (0: it is exact, without noise).
            It is 1 where no record can be released.
        """
        if not self.draws:
            return Expectation(1.0)
        return max(self._found_over_noise(columns), *self._informed_over_noise(columns), key=_bound_of)

    def _informed_over_noise(self, columns: Sequence[str]) -> Iterator[Expectation]:
        """Yield what is linked by who knows how columns are changed as a whole, where there are any."""
        yield Expectation(0.0)
        if self.informed:
            table = table_of_cells(self.table, self._cells(columns).own, self.people)
            yield mean_informed_share(table, self.draws)

    def _found_over_noise(self, columns: Sequence[str]) -> Expectation:
        if self.people is not None:
            shown = [self._select_shown(drawn, columns) for drawn in self.draws]
            return self._of_people(columns, self.people).over_noise(shown, _PAIRS_OF_PEOPLE)
        draws = self.draws
        cells, hidden = self._cells(columns), self._hidden_of(columns)
        most = self._most(columns)
        bounded = (most > 1) & (most <= CLOSE * cells.sizes)
        plan = looked_records(cells, most, ~bounded, _PAIRS // len(draws))
        random, many = np.random.default_rng(_SEED), int(self.groups.max()) + 1
        linked, of = np.zeros((2, len(draws), many))
        ever = np.zeros(len(cells.labels), np.bool_)
        for number, drawn in enumerate(draws):
            ever[cells.own[drawn.rows]] = True
            weighed, groups = self._link(drawn, columns, plan, random), self.groups[drawn.rows]
            linked[number] = np.bincount(groups, weights=weighed, minlength=many)
            of[number] = np.bincount(groups, minlength=many)
            del weighed, groups
        own = np.zeros(many)
        where = bounded & ever
        np.add.at(own, self.groups[cells.order[cells.starts[:-1][where]]], most[where])
        if not hidden.drawn:
            return Expectation(min(float(linked.sum() / of.sum()), 1.0))
        mean, error = combined_ratio(linked + own, of)
        heaviest = float((cells.sizes / np.maximum(plan, 1))[plan > 0].max(initial=1.0))
        return Expectation(min(mean, 1.0), max(error, heaviest / float(of.sum())), len(draws))

    def realized_share(self, evidence: Evidence, policy: Policy, columns: Sequence[str]) -> float:
        """Return the share of the released records that is correctly linked by the noise that was drawn.

        Of large cells a sample is looked at; where people are counted, of people with records there. It is
        the last question about these columns: their cells are not kept.

        Args:
            evidence: that this was prepared of.
        """
        drawn = self._drawn_release(evidence, policy)
        if self.people is not None:
            shown = self._select_shown(drawn, columns)
            attack = self._of_people(columns, self.people)
            found = attack.realized_share(shown.values, shown.rows, _PAIRS_OF_PEOPLE)
        else:
            most = self._most(columns)
            plan = looked_records(self._cells(columns), most, np.ones(len(most), np.bool_), _PAIRS)
            weighed = self._link(drawn, columns, plan, np.random.default_rng(_SEED))
            found = min(exact_sum(weighed) / len(drawn.rows), 1.0)
        if self.informed:
            table = table_of_cells(self.table, self._cells(columns).own, self.people)
            found = max(found, *informed_shares(table, drawn))
        for kept in (self.made, self.made_of_people, self.most):
            kept.pop(tuple(columns), None)
        return found

    def _link(
        self, drawn: Shown, columns: Sequence[str], plan: Integers, random: np.random.Generator
    ) -> Reals:
        """Return what each released record adds to the records that are correctly linked, (r,).

        Args:
            drawn: with all drawn values.
            plan: (c,) records of each cell that are looked at.
        """
        cells, cell = self._cells(columns), self._cells(columns).own[drawn.rows]
        found: Reals = np.where(self._most(columns) <= 1, 1 / cells.sizes, 0.0)[cell]
        chosen = np.flatnonzero(choose_evenly(cells, plan, random)[drawn.rows])
        shown = self._select_shown(Shown(drawn.values[chosen], drawn.rows[chosen]), columns)
        right = right_guesses(shown.values, shown.rows, cells, self._hidden_of(columns))
        found[chosen] = right * (cells.sizes / np.maximum(plan, 1))[cell[chosen]]
        return found

    def _drawn_release(self, evidence: Evidence, policy: Policy) -> Shown:
        """Return the release that was drawn; of the last evidence it is kept."""
        if not any(known is evidence for known, _ in self.seen):
            behind = require_originals(evidence)
            places = np.full(len(behind.labels), -1, self.table.originals.own.dtype)
            first = self.table.originals.own[: int(np.count_nonzero(behind.labels >= 0))]
            places[first] = np.arange(len(first))
            values = _beside(grid_units(evidence.released, policy), codes_of(evidence.released, policy))
            shown = Shown(narrow_numbers(values), narrow_integers(places)[behind.own])
            self.seen[:] = [(evidence, shown)]
        return self.seen[0][1]

    def _most(self, columns: Sequence[str]) -> Reals:
        """Return how many records of each cell are linked on average at most (`most_linked`)."""
        if (of := tuple(columns)) not in self.most:
            self.most[of] = most_linked(self._cells(columns), self._hidden_of(columns))
        return self.most[of]

    def _known_places(self, columns: Sequence[str]) -> list[int]:
        """Return which columns of categories have originals that are known."""
        return [at for at, name in enumerate(self.categories) if name in columns]

    def _hidden_of(self, columns: Sequence[str]) -> Hidden:
        known = self._known_places(columns)
        likely, assumed = self.hidden.likely, self.hidden.assumed
        return replace(
            self.hidden,
            codes=self.hidden.codes[:, known],
            likely=tuple(likely[at] for at in known),
            assumed=tuple(assumed[at] for at in known),
        )

    def _select_shown(self, drawn: Shown, columns: Sequence[str]) -> Shown:
        numbers = len(self.hidden.law.drawn)
        kept = [*range(numbers), *(numbers + at for at in self._known_places(columns))]
        return Shown(drawn.values[:, kept].astype(np.float64, copy=False), drawn.rows.astype(np.int64))

    def _cells(self, columns: Sequence[str]) -> Cells:
        if tuple(columns) not in self.made:
            self.made[tuple(columns)] = cells_of(self.table.labels, self._known_codes(columns))
        return self.made[tuple(columns)]

    def _known_codes(self, columns: Sequence[str]) -> NDArray[np.signedinteger]:
        """Return a number for what is known of each record beside its class, (R,), equal for equal values."""
        own = self.table.originals.own
        codes: NDArray[np.signedinteger] = np.zeros(len(own), np.int8)
        for ranks in (self.ranks[name] for name in columns if name in self.ranks):
            more = ranks[own] if len(self.table.originals.labels) == len(ranks) else ranks[own % len(ranks)]
            codes = narrow_integers(rank_values(*pack_columns([codes, more]))[0])
        return codes

    def _of_people(self, columns: Sequence[str], people: Integers) -> PeopleAttack:
        if (of := tuple(columns)) not in self.made_of_people:
            self.made_of_people[of] = people_attack(self._cells(columns), people, self._hidden_of(columns))
        return self.made_of_people[of]


def known_attack(evidence: Evidence, policy: Policy, known: KnownTable | None = None) -> KnownAttack:
    """Prepare the attack: draw releases, and rank the values that may be known.

    Args:
        evidence: with originals; which of them were released, and how, plays no part.
        policy: all of its stages after the recoding.
        known: its `known_table`; None: it is made here.
    Raises:
        InputError: a file alone.
    """
    known = known or known_table(evidence, policy)
    behind, table, codes = require_originals(evidence), known.table, known.codes
    own, sizes = table.originals.own, np.bincount(table.labels)
    assumed = assumptions(table, policy)
    law = law_by_diameters(table.noise.diameters, policy, moved=assumed.moved)
    people = None if table.originals.people is None else in_order(table.originals.people[own])
    codes = codes[own % len(behind.labels)] if codes.shape[1] else np.empty((len(own), 0), np.int64)
    numbers, likely = table.noise.values[:, : len(policy.perturbed)], category_laws(policy) | assumed.likely
    hidden = Hidden(
        _centers(law, numbers),
        law,
        codes,
        tuple(likely[name] for name in policy.categorical),
        tuple(name in assumed.likely for name in policy.categorical),
    )
    return KnownAttack(
        table,
        known.ranks,
        hidden,
        tuple(policy.categorical),
        list(_draw(table, hidden, _many(policy, sizes, people))),
        groups_of(sizes).astype(np.int8)[table.labels],
        people,
        informed=bool(policy.whole_columns),
    )


def _bound_of(found: Expectation) -> float:
    return found.judged


def _many(policy: Policy, sizes: Integers, people: Integers | None) -> int:
    """Return how many releases are drawn of classes of these sizes."""
    if not policy.noisy:
        return 1
    return draws_of(sizes, records=SIMULATED_RECORDS) if people is None else DRAWS


def _draw(table: DrawingTable, hidden: Hidden, many: int) -> Iterator[Shown]:
    """Yield releases with all drawn values; of categories none decides who is released."""
    random, changed = np.random.default_rng(_SEED), np.array(hidden.assumed, np.bool_)
    laws = [law for law, one in zip(hidden.likely, hidden.assumed, strict=True) if not one]
    for drawn in table.releases(many):
        if drawn is not None:
            codes = hidden.codes[drawn.rows]
            codes[:, ~changed] = draw_codes(codes[:, ~changed], laws, random)
            codes[:, changed] = drawn.values[:, drawn.numbers.shape[1] :]
            yield Shown(_beside(drawn.numbers, codes), drawn.rows)


def _centers(law: NoiseLaw, values: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    """Return what the noise is added to, (R, p), in few bytes."""
    if not any(law.inputs(j) for j in range(values.shape[1])):
        return values
    return narrow_integers(law.centers(values.astype(np.int64)))


def _beside(numbers: NDArray[Any], codes: Integers) -> NDArray[Any]:
    """Return numbers, (r, p), and codes of categories, (r, c), side by side; without these no copy."""
    return np.hstack([numbers, codes]) if codes.shape[1] else numbers
