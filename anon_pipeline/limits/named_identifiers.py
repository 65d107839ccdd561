"""Columns named like numbers of persons that have another role, in which a release can show their values.

A policy accepts that as a risk, see `accepted_risks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from anon_pipeline.catalog.detectors.full_names import are_full_names, is_word_for_persons
from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.catalog.detectors.name_hints import find_hint
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy

_BIRTH: Final = "dates of birth"
_OFTEN_KNOWN: Final = frozenset({"names of persons", "addresses", _BIRTH, "places on a map"})
"""What names say of columns that are often generalized; the others are numbers of persons."""


def by_named_identifiers(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the key of each such column, and what is accepted of it.

    They are columns of numbers or dates of which the recoder releases the ends of ranges, and columns that
    are changed as a whole. Dates of birth are often known, and meant to be generalized; but ranges of days,
    which take no notice of the months or years of the hierarchy, end at somebody's birthday.
    """
    recoder = recoder_of(policy.anonymize.recoder)
    lines = [name for name, own in policy.generalized.items() if hierarchy_kind(own.hierarchy).ordered]
    ends = f"{recoder.name} releases the least and the greatest value of each class as they are"
    if recoder.family.releases == "ranges":
        yield from _birthdays(policy, recoder.name)
    if recoder.family.releases in {"ranges", "means"}:
        yield from _listed_people(policy, recoder.name)
    whole = "a column that is changed as a whole can keep its values, in other records"
    for names, how in (
        (lines if recoder.family.releases == "ranges" else [], ends),
        (policy.whole_columns, whole),
    ):
        for name in names:
            said = telling_name(name)
            if said is not None and said not in _OFTEN_KNOWN:
                yield f"columns.{name}.role", f"{name} is named like {said}, and {how} (usual: identifier)"


def _birthdays(policy: Policy, recoder: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each column of days named like dates of birth, of which ranges are released."""
    for name, own in policy.generalized.items():
        if hierarchy_kind(own.hierarchy).days and _is_birth(name):
            yield (
                f"columns.{name}.hierarchy",
                f"{name} is named like {_BIRTH}, and {recoder} releases the first and the last day of each "
                "class, birthdays of two people, whatever the hierarchy says (usual: a recoder that releases "
                "its levels, such as ola)",
            )


def _is_birth(name: str) -> bool:
    """Tell whether a column of days is named like dates of birth."""
    hint = find_hint(name)
    return telling_name(name) == _BIRTH or (hint is not None and hint.meaning == _BIRTH)


def _listed_people(policy: Policy, recoder: str) -> Iterator[tuple[str, str]]:
    """Yield the key of each column whose hierarchy orders texts that name people, of which some are shown."""
    for name, own in policy.generalized.items():
        kind = hierarchy_kind(own.hierarchy)
        if not kind.ordered or kind.numbers or kind.days or not kind.leaves:
            continue
        values = import_entry(kind.leaves)(name, own.hierarchy, Path())
        if are_full_names(values, of_persons=is_word_for_persons(name)):
            yield (
                f"columns.{name}.hierarchy",
                f"{name} has an order of what look like full names of people, and {recoder} releases one or "
                "two of them for each class (usual: identifier)",
            )
