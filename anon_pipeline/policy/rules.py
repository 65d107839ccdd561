"""Rules between the sections of a policy: pure, and tolerant of sections that did not parse."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from anon_pipeline.base.spelling import escape, is_plain, look_alikes
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entries import Fit, Recoder
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.recoders import names_where, recoder_of
from anon_pipeline.policy.acknowledgements import unfit_acknowledgements
from anon_pipeline.policy.column_cleaning import unfit_cleaning
from anon_pipeline.policy.columns import Generalize, Identifier, Perturb, PerturbCategories, columns_of
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.marks import Needs, misfits, named_columns, needs_noise, sections_in
from anon_pipeline.policy.noise_rules import broken_mechanisms
from anon_pipeline.policy.stream import unfit_stream

_COLUMNS: tuple[Needs, ...] = ("columns", "every column")
_PARTITION = "{partition}"
_WITHOUT_LEVELS = names_where(lambda recoder: not recoder.needs_levels)
_CHOOSING = names_where(lambda recoder: not recoder.needs_levels and "classes" not in recoder.options)


def broken_rules(sections: Mapping[str, Any]) -> list[str]:
    """List every rule between sections that is broken.

    Args:
        sections: parsed sections by name; a section that did not parse is absent, a column that did not
            parse is None.
    Returns:
        One line per mistake, in a fixed order.
    """
    columns = sections.get("columns")
    found: list[str] = []
    if columns is not None:
        found += _columns(columns)
        found += _hierarchies(columns, sections)
        found += _perturb(columns, sections)
        found += _misfits(("suppress",), sections, *_COLUMNS)
        found += broken_mechanisms(columns, sections)
        found += _marked_problems(columns, sections)
        found += _misfits(("gate", "anonymize"), sections, *_COLUMNS)
        found += _key(columns, sections)
        found += _recoder(columns, sections)
        found += _record_key(columns, sections)
        found += unfit_acknowledgements(sections.get("acknowledged", ()), columns)
        found += _person(columns, sections)
        found += _one_record(sections)
        found += unfit_cleaning(sections.get("clean"), sections)
        found += _sample(sections)
    found += _misfits(("source", "anonymize", "perturb", "gate"), sections, "nothing")
    found += _schedule(sections)
    found += _budget(sections)
    found += unfit_stream(sections)
    return found


def _columns(columns: Mapping[str, Any]) -> Iterator[str]:
    private = sorted(name for name in columns if name.startswith("_"))
    if private:
        yield (
            "columns: names must not begin with an underscore (reserved for private columns), "
            f"got {', '.join(private)}"
        )
    unseen = sorted(escape(name) for name in columns if not is_plain(name))
    if unseen:
        yield f"columns: names must not hold control characters, got {', '.join(unseen)}"
    for one, other in look_alikes(columns):
        yield f"columns: names must not look alike, got {escape(one)} and {escape(other)}"
    if None not in columns.values() and not columns_of(columns, Generalize):
        yield (
            "columns: at least one must have the role generalize, got none. "
            "It defines the equivalence classes."
        )


def _hierarchies(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    recoder = getattr(sections.get("anonymize"), "recoder", None)
    bare = [name for name in columns_of(columns, Generalize) if columns[name].hierarchy is None]
    if bare and recoder is not None and recoder not in _WITHOUT_LEVELS:
        yield (
            f"columns: a hierarchy must be given for {', '.join(bare)}: the recoder {recoder} needs it. "
            f"These recoders need none: {', '.join(_CHOOSING)}."
        )


def _perturb(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    if "perturb" not in sections:
        return
    numbers, section = columns_of(columns, Perturb), sections["perturb"]
    names = [name for name in columns if name in {*numbers, *columns_of(columns, PerturbCategories)}]
    if names and section is None:
        yield f"perturb: must be given (with epsilon) for the columns {', '.join(names)}"
    if not names and None not in columns.values() and section is not None:
        yield "perturb: must be left out when no column has the role perturb"


def _marked_problems(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield which limits name columns of another role, or need noise that there is not, by their marks."""
    roles = {name: getattr(column, "role", None) for name, column in columns.items()}
    unsure, noisy = None in columns.values(), bool(columns_of(columns, Perturb))
    for where, section in _with_inner({name: sections.get(name) for name in ("gate", "anonymize")}):
        for field, role, names in named_columns(section):
            wrong = sorted(name for name in set(names) if roles.get(name, "") not in (None, role))
            if wrong:
                yield f"{where}.{field}: must name columns with the role {role}, got {', '.join(wrong)}"
        if not noisy and not unsure:
            yield from (f"{where}.{field}: needs {_linking_need(columns)}" for field in needs_noise(section))


def _with_inner(sections: Mapping[str, Any]) -> list[tuple[str, BaseModel]]:
    """List sections that are there, then those in them, level by level, with their places."""
    found = [(name, section) for name, section in sections.items() if section is not None]
    for where, section in found:  # which grows
        for name in type(section).model_fields:
            found += sections_in(getattr(section, name), f"{where}.{name}")
    return found


def _linking_need(columns: Mapping[str, Any]) -> str:
    """Say which column a limit on linking needs."""
    if columns_of(columns, PerturbCategories):
        return "a perturb column with numbers (linking does not use categories)"
    return "a column with the role perturb (without one, k limits linking)"


def _misfits(names: Iterable[str], sections: Mapping[str, Any], *needs: Needs) -> Iterator[str]:
    """Yield what is wrong with fields that declare what they need of other sections."""
    columns = sections.get("columns") or {}
    for name, known in itertools.product(names, needs):
        if sections.get(name) is not None and (known != "every column" or None not in columns.values()):
            yield from misfits(name, sections[name], sections, known)


def _key(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    if "deidentify" not in sections or sections["deidentify"] is not None:
        return
    for action in (one.name for one in IDENTIFIER_ACTIONS.values() if one.keyed):
        names = [name for name in columns_of(columns, Identifier) if columns[name].action == action]
        if names:
            yield (
                f"deidentify: must be given (key_env or key_file) for action: {action} in {', '.join(names)}"
            )


def _recoder(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the columns do not fit the recoder, where it needs certain ones."""
    wanted = sections.get("anonymize")
    if wanted is None or None in columns.values():
        return
    quasi = [columns[name].hierarchy for name in columns_of(columns, Generalize)]
    numeric = sum(hierarchy_kind(hierarchy).ordered for hierarchy in quasi)
    limits = [
        getattr(wanted if getattr(wanted, kind) is not None else sections.get("gate"), kind, None) or {}
        for kind, limit in CLASS_LIMITS.items()
        if limit.by_distance
    ]
    ordered = [x for x in itertools.chain(*limits) if getattr(columns.get(x), "distance", None) == "ordered"]
    own, fit = recoder_of(wanted.recoder), Fit(len(quasi), numeric, len(ordered))
    problem = own.misfit(fit)
    if problem is not None:
        fitting = ", ".join(names_where(lambda one: _takes_its_place(one, own) and one.misfit(fit) is None))
        others = f". These fit: {fitting}." if fitting else ""
        yield f"anonymize.recoder: {own.name} {problem}{others}"


def _takes_its_place(one: Recoder, own: Recoder) -> bool:
    """Tell whether a recoder releases values of the same form, and keeps limits that the other one keeps."""
    return one.family == own.family and one.keeps_limits >= own.keeps_limits


def _record_key(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    name = sections.get("record_key")
    if name is None:
        return
    if name not in columns or not isinstance(columns[name], (Identifier, type(None))):
        yield f"record_key: must name a column with the role identifier, got {name}"
    if "deidentify" in sections and sections["deidentify"] is None:
        yield "deidentify: must be given (key_env or key_file) for record_key"


def _sample(sections: Mapping[str, Any]) -> Iterator[str]:
    if sections.get("sample") is not None and "deidentify" in sections and sections["deidentify"] is None:
        yield "deidentify: must be given (key_env or key_file) for sample"


def _person(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    name, rows = sections.get("person"), sections.get("rows_per_person")
    if name is None:
        if rows is not None and "person" in sections:
            yield "rows_per_person: needs person"
        return
    column = columns.get(name)
    if name not in columns or not isinstance(column, (Identifier, type(None))):
        yield f"person: must name a column with the role identifier, got {name}"
    elif column is not None and IDENTIFIER_ACTIONS[column.action].tells_apart:
        yield (
            f"person: must name a column that does not show which records are of one person, got {name} with "
            f"action: {column.action}. Set action: drop."
        )
    if sections.get("record_key") is not None:
        yield (
            "person: must be left out with record_key, by which each person has one record, so that records "
            "are people already"
        )
    if "deidentify" in sections and sections["deidentify"] is None:
        yield "deidentify: must be given (key_env or key_file) for person"
    recoder = getattr(sections.get("anonymize"), "recoder", None)
    if recoder is not None and not recoder_of(recoder).of_people:
        fits = ", ".join(names_where(lambda one: one.of_people))
        yield (
            f"anonymize.recoder: {recoder} makes classes of k records, not of k people as person asks. These "
            f"make classes of k people: {fits}."
        )
    if rows is None and "rows_per_person" in sections and sections.get("perturb") is not None:
        yield (
            "rows_per_person: must be given with person where there is noise, for example 3: the ε of a "
            "person is split over them"
        )


def _one_record(sections: Mapping[str, Any]) -> Iterator[str]:
    if sections.get("one_record_per_person") is None:
        return
    for name in ("person", "record_key"):
        if sections.get(name) is not None:
            yield f"one_record_per_person: must not be set with {name}, which says who the people are"


def _schedule(sections: Mapping[str, Any]) -> Iterator[str]:
    source, schedule = sections.get("source"), sections.get("schedule")
    if source is None or "schedule" not in sections:
        return
    if schedule is None or schedule.partitions is None:
        for name, mark in source.named_partitions().items():
            yield f"source.{name}: {mark} needs schedule.partitions"


def _budget(sections: Mapping[str, Any]) -> Iterator[str]:
    budget = sections.get("budget")
    if budget is None or "perturb" not in sections:
        return
    noise, columns = sections["perturb"], sections.get("columns") or {}
    if noise is None:
        if not (
            columns_of(columns, Perturb) or columns_of(columns, PerturbCategories)
        ):  # else `_perturb` asks for it
            yield "budget: must be left out when no column has the role perturb"
    elif noise.epsilon > budget.epsilon:
        yield (
            f"budget.epsilon: must be at least perturb.epsilon, got {budget.epsilon:g} and "
            f"{noise.epsilon:g}. No release would fit."
        )
    if budget.per == "record" and sections.get("source") is not None:
        path = sections["source"].watched
        if path is None or _PARTITION not in posixpath.normpath(path):
            yield (
                "budget.per: record needs {partition} in source.path: each partition must have a file of its "
                "own, with records of its own. Use per: dataset for a source that is the same for all."
            )
