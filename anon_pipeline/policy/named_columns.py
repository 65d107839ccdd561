"""Declared columns that are named like what identifies people, and have enough values to do so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from anon_pipeline.catalog.detectors.full_names import are_full_names, is_word_for_persons
from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.policy.declared_columns import DeclaredColumn

FEW: Final = 20
"""Values that a column of any name can have, such as whether there is an e-mail address; pupils are more."""
_SHOWABLE: Final = frozenset({"dates of birth"})
"""What a name may say of a column with many values: who releases years of birth declares them."""


def named_like_identifiers(columns: Mapping[str, DeclaredColumn], why: str) -> list[str]:
    """Say which columns must be left out, a line each.

    Args:
        columns: that can be released, with numbers or categories.
        why: what the release would do with their values.
    """
    return [
        f"columns.{name}: must be left out, since it is named like {said}, has more than {FEW} values, and "
        f"{why}. If it holds nothing of that kind, give it another name"
        for name, column in columns.items()
        for said in [telling_name(name) or _said_by_values(name, column)]
        if said is not None and said not in _SHOWABLE and column.size > FEW
    ]


def _said_by_values(name: str, column: DeclaredColumn) -> str | None:
    """Say what a column holds that is called by a word for persons, and has full names: ``pupil``."""
    named = is_word_for_persons(name) and are_full_names(column.values or (), of_persons=True)
    return "persons (its values look like full names of people)" if named else None
