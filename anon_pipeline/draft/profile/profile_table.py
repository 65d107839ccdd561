"""The profile of a table: how it is written, what its columns hold, what is proposed for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.places import TableUrl
from anon_pipeline.catalog.detectors.forms import MISSING_ANYWHERE
from anon_pipeline.catalog.detectors.name_hints import MONEY, find_hint, name_words
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.look import Look, Seen, look_at
from anon_pipeline.draft.profile.odd_records import OddRecords, find_odd_records
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.draft.profile.questions import odd_records
from anon_pipeline.draft.profile.record_owners import without_owners
from anon_pipeline.draft.profile.roles import propose_role
from anon_pipeline.draft.profile.separation import Separation, sampled_rows, separate, smallest_separating_set
from anon_pipeline.draft.profile.source_file import read_given
from anon_pipeline.draft.profile.whole_table import with_items, with_total, within_reason

_RATES = frozenset({"per", "pro", "je", "par", "por", "rate", "kurs"})
"""Words of amounts for one of something, such as prices per litre, which often have three decimals."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What is known of a table, and proposed for it.

    layout: how the file is written; None for a table in memory.
    records: n.
    proposals: one for each column, in the order of the file.
    separations: of each column alone, likewise.
    together: few columns that, of those released or generalized, leave most records alone; None: no columns.
    missing_texts: texts of the public lists that stand for a missing value in some column.
    looks: the columns as they are read: private.
    source: the section of a policy that says where the table lies; None: the path of its file says it.
    odd: records that are probably none.
    """

    layout: Layout | None
    records: int
    proposals: tuple[Proposal, ...]
    separations: tuple[Separation, ...]
    together: Separation | None
    missing_texts: tuple[str, ...]
    looks: tuple[Look, ...] = field(repr=False)
    source: Mapping[str, Any] | None = None
    odd: OddRecords = field(default_factory=OddRecords)

    @property
    def missing_anywhere(self) -> tuple[str, ...]:
        """Of the texts for a missing value those that are none of a category, in any column."""
        return tuple(text for text in self.missing_texts if text in MISSING_ANYWHERE)

    @property
    def odd_question(self) -> str:
        """Whether some records are no people, as a question; empty where none looks like that."""
        return odd_records(**asdict(self.odd)) if self.odd else ""

    @property
    def questions(self) -> list[Proposal]:
        """The columns that are left to decide."""
        return [proposal for proposal in self.proposals if proposal.question is not None]


def profile_file(data: Path | TableUrl) -> tuple[Profile, pd.DataFrame]:
    """Look at a file, at the table at a URL, or at the one that a YAML file names.

    Returns:
        Its profile, and the table as it was read.
    Raises:
        InputError: see `source_file.read_given`.
    """
    given = read_given(data)
    return profile_table(given.frame, layout=given.layout, source=given.source), given.frame


def profile_table(
    frame: pd.DataFrame, *, layout: Layout | None = None, source: Mapping[str, Any] | None = None
) -> Profile:
    """Look at a table.

    Args:
        frame: (n, columns), n ≥ 1; texts, or values with types.
        layout: how its file is written.
        source: the section of a policy that names it; None: its file does.
    """
    with private_stage("profile"):
        looks = [look_at(frame[name]) for name in frame.columns]
        mark = _decimal(looks)
        looks = [
            look_at(frame[look.seen.name], decimal=",") if _takes_comma(look.seen, mark) else look
            for look in looks
        ]
        proposals = within_reason(with_items(looks, [propose_role(look) for look in looks]))
        odd = find_odd_records(looks)
        proposals = without_owners(proposals if odd.totals else with_total(looks, proposals))
        codes = _sample(looks, len(frame))
        alone = tuple(separate(codes, [j]) for j in range(len(codes)))
        open_ = [j for j, proposal in enumerate(proposals) if not proposal.dropped]
        together = smallest_separating_set(codes, open_)
    texts = tuple(dict.fromkeys(text for look in looks for text in look.seen.missing_texts))
    return Profile(layout, len(frame), tuple(proposals), alone, together, texts, tuple(looks), source, odd)


def _decimal(looks: Sequence[Look]) -> str:
    """Return the decimal mark that most columns have whose numbers can be read in one way."""
    marks = Counter(
        look.seen.number.decimal
        for look in looks
        if look.seen.number is not None and not look.seen.number.ambiguous and not look.seen.whole
    )
    return "," if marks[","] > marks["."] else "."


def _takes_comma(seen: Seen, mark: str) -> bool:
    """Tell whether to read ambiguous numbers again, with a decimal comma.

    In a column named like money, but for rates (price per litre), unless a sign of thousands was found
    already: ``26.500`` is 26500, since amounts seldom have three decimals. In other columns, if most columns
    that are not ambiguous have one.
    """
    if seen.number is None or not seen.number.ambiguous:
        return False
    hint = find_hint(seen.name)
    is_money = hint is not None and hint.meaning == MONEY and not {*name_words(seen.name)} & _RATES
    return not seen.number.thousands if is_money else mark == ","


def _sample(looks: Sequence[Look], records: int) -> list[np.ndarray]:
    rows = sampled_rows(records)
    return [look.codes if rows is None else look.codes[rows] for look in looks]
