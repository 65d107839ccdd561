"""Columns named like numbers of persons that have another role, in which a release can show their values.

A policy accepts that as a risk, see `accepted_risks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy

_OFTEN_KNOWN: Final = frozenset({"names of persons", "addresses", "dates of birth", "places on a map"})
"""What names say of columns that are often generalized; the others are numbers of persons."""


def by_named_identifiers(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the key of each such column, and what is accepted of it.

    They are columns of numbers or dates of which the recoder releases the ends of ranges, and columns that
    are changed as a whole.
    """
    recoder = recoder_of(policy.anonymize.recoder)
    lines = [name for name, own in policy.generalized.items() if hierarchy_kind(own.hierarchy).ordered]
    ends = f"{recoder.name} releases the least and the greatest value of each class as they are"
    whole = "a column that is changed as a whole can keep its values, in other records"
    for names, how in (
        (lines if recoder.family.releases == "ranges" else [], ends),
        (policy.whole_columns, whole),
    ):
        for name in names:
            said = telling_name(name)
            if said is not None and said not in _OFTEN_KNOWN:
                yield f"columns.{name}.role", f"{name} is named like {said}, and {how} (usual: identifier)"
