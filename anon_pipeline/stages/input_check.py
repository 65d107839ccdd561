"""The personal data as the stages take it: cleaned and accepted, or all that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import Mistake, mistakes_error
from anon_pipeline.base.packed_tables import Table, with_text_names
from anon_pipeline.catalog.column_types import COLUMN_TYPES, NUMBER_TYPE
from anon_pipeline.encode.codes import accept
from anon_pipeline.hierarchy import code_column
from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.policy.columns import Generalize
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.cleaning import clean_column, clean_frame, in_column
from anon_pipeline.stages.class_column import without_classes


def accepted_input(policy: Policy, frame: Table, *, hierarchies: Path = Path()) -> Table:
    """Clean a table as the policy says, and accept it (`encode.codes.accept`).

    Args:
        frame: (n, columns) personal data.
        hierarchies: folder of the hierarchy tables and of the files of value maps.
    Raises:
        InputError: every mistake, a line each: of cleaning, of the columns and their types, and what the
            stages that follow would find in the hierarchies. Which records they are is withheld.
    """
    named = without_classes(policy, with_text_names(frame))
    cleaned = clean_frame(named, policy, folder=hierarchies)
    problems, names = list[str](), tuple[str, ...]()
    try:
        found = accept(cleaned.frame, policy)
    except InputError as error:
        problems, names = list(error.problems), error.withheld_names()
    if not problems and not cleaned.mistakes:
        return found
    problems = [
        line for line in problems if not line.startswith(tuple(f"{name}: " for name in cleaned.unread))
    ]
    hints = _hints(policy, named) if policy.clean is None else []
    all_found = with_later_problems(InputError(problems), policy, cleaned.frame, hierarchies)
    raise mistakes_error([*cleaned.mistakes, *hints], all_found.problems, names=names)


def with_later_problems(error: InputError, policy: Policy, frame: Table, hierarchies: Path) -> InputError:
    """Return an error about a table that names what later stages would refuse, too.

    Args:
        frame: (n, columns) cleaned.
    """
    known = error.problems
    return InputError([*known, *(line for line in _later(policy, frame, hierarchies) if line not in known)])


def _later(policy: Policy, frame: Table, hierarchies: Path) -> Iterator[str]:
    """Yield what later stages would refuse: values that a hierarchy does not cover.

    Args:
        frame: (n, columns) cleaned; columns that are not there, or are repeated, are passed over.
    """
    names: Sequence[str] = list(map(str, frame.columns))
    for name, column in policy.columns.items():
        spec = getattr(column, "hierarchy", None)
        if names.count(name) != 1 or (spec is None and not isinstance(column, Generalize)):
            continue
        if name in policy.categorical:  # held against its domain, which is that of its hierarchy
            continue
        if len(frame) and not frame[name].isna().all():
            try:
                code_column(frame[name], spec, folder=hierarchies)
            except InputError as error:
                yield from error.problems
            except (OverflowError, NotImplementedError):
                continue  # a time that no text can be made of, which is refused already


def _hints(policy: Policy, frame: Table) -> Iterator[Mistake]:
    """Yield what ``clean`` would fix in columns that need numbers, where the policy has no such section."""
    how = ColumnCleaning(COLUMN_TYPES[NUMBER_TYPE], strip=True, decimal=".")
    for name in policy.numeric:
        if list(frame.columns).count(name) == 1:
            for wrong in clean_column(frame[name], how, {})[1]:
                advice = in_column(name, wrong.advice)
                yield Mistake(name, f"must be {how.type.words}", wrong.kind, wrong.rows, advice)
