"""Rules between the sections of a policy: pure, and tolerant of sections that did not parse."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from anon_pipeline.base.spelling import escape, is_plain, look_alikes
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entries import Fit
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import LABELED, WEIGHED
from anon_pipeline.catalog.recoders import names_where, recoder_of
from anon_pipeline.policy.columns import Generalize, Identifier, Perturb, PerturbCategories
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.marks import named_columns, needs_noise
from anon_pipeline.policy.noise_rules import broken_mechanisms

CELLS = names_where(lambda recoder: recoder.family.cells)
PREFERRING = names_where(lambda recoder: recoder.prefers)
COVERING = names_where(lambda recoder: recoder.family.releases != "means")
"""Recoders whose released values say which values they stand for; a mean does not."""

_PARTITION = "{partition}"
_WITHOUT_LEVELS = names_where(lambda recoder: not recoder.needs_levels)


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
        found += broken_mechanisms(columns, sections)
        found += _marked(columns, sections)
        found += _gate(columns, sections)
        found += _attacks(columns, sections)
        found += _loss(columns, sections)
        found += _key(columns, sections)
        found += _recoder(columns, sections)
        found += _record_key(columns, sections)
    found += _options(sections)
    found += _composed(sections)
    found += _schedule(sections)
    found += _budget(sections)
    return found


def _of(columns: Mapping[str, Any], kind: type) -> list[str]:
    return [name for name, column in columns.items() if isinstance(column, kind)]


def _columns(columns: Mapping[str, Any]) -> Iterator[str]:
    private = sorted(name for name in columns if name.startswith("_"))
    if private:
        yield (
            "columns: names must not begin with an underscore (kept for private columns), "
            f"got {', '.join(private)}"
        )
    unseen = sorted(escape(name) for name in columns if not is_plain(name))
    if unseen:
        yield f"columns: names must not hold control characters, got {', '.join(unseen)}"
    for one, other in look_alikes(columns):
        yield f"columns: names must not look alike, got {escape(one)} and {escape(other)}"
    if None not in columns.values() and not _of(columns, Generalize):
        yield (
            "columns: at least one must have the role generalize, got none. "
            "It defines the equivalence classes."
        )


def _hierarchies(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    recoder = getattr(sections.get("anonymize"), "recoder", None)
    bare = [name for name in _of(columns, Generalize) if columns[name].hierarchy is None]
    if bare and recoder is not None and recoder not in _WITHOUT_LEVELS:
        yield (
            f"columns: a hierarchy must be given for {', '.join(bare)}, because of anonymize.recoder: "
            f"{recoder}. Without one fit {', '.join(_WITHOUT_LEVELS)}."
        )


def _perturb(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    if "perturb" not in sections:
        return
    numbers, section = _of(columns, Perturb), sections["perturb"]
    names = [name for name in columns if name in {*numbers, *_of(columns, PerturbCategories)}]
    if names and section is None:
        yield f"perturb: must be given (with epsilon), because of the columns {', '.join(names)}"
    none = not names and None not in columns.values()
    if none and section is not None:
        yield "perturb: must be left out when no column has the role perturb"
    confidence = getattr(sections.get("suppress"), "confidence", None)
    if none and confidence is not None:
        yield "suppress.confidence: must be left out when no column has the role perturb"
    if names and not numbers and None not in columns.values() and confidence is not None:
        yield (
            f"suppress.confidence: needs a perturb column with numbers, got categories alone: "
            f"{', '.join(names)}. Limits that fit: k, t_closeness, l_diversity, suppression."
        )


def _marked(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield which limits name columns of another role, or need noise that there is not, by their marks."""
    gate = sections.get("gate")
    places = {
        "gate": gate,
        "anonymize": sections.get("anonymize"),
        "gate.attacks": getattr(gate, "attacks", None),
    }
    roles = {name: getattr(column, "role", None) for name, column in columns.items()}
    unsure, noisy = None in columns.values(), bool(_of(columns, Perturb))
    for where, section in places.items():
        if section is None:
            continue
        for field, role, names in named_columns(section):
            wrong = sorted(name for name in set(names) if roles.get(name, "") not in (None, role))
            if wrong:
                yield f"{where}.{field}: must name columns with the role {role}, got {', '.join(wrong)}"
        if not noisy and not unsure:
            yield from (f"{where}.{field}: needs {_linked(columns)}" for field in needs_noise(section))


def _gate(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    gate = sections.get("gate")
    if gate is None:
        return
    suppress = sections.get("suppress")
    if gate.confidence_k is not None and suppress is not None and suppress.confidence is None:
        yield "gate.confidence_k: needs suppress.confidence"


def _linked(columns: Mapping[str, Any]) -> str:
    """Say which column a limit on linking needs."""
    if _of(columns, PerturbCategories):
        return "a perturb column with numbers (those with categories are not linked by)"
    return "a column with the role perturb (without one, k limits linking)"


def _attacks(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the limits on attacks."""
    attacks = getattr(sections.get("gate"), "attacks", None)
    if attacks is None:
        return
    among = " and numbers" if _of(columns, PerturbCategories) else ""
    kinds = (Generalize, Perturb, type(None))
    quasi = {name for name, column in columns.items() if isinstance(column, kinds)}
    if wrong := sorted(set(itertools.chain(*attacks.linkage.match)) - quasi):
        yield (
            f"gate.attacks.linkage.match: must name columns with the role generalize or perturb{among}, got "
            f"{', '.join(wrong)}"
        )
    recoder = getattr(sections.get("anonymize"), "recoder", COVERING[0])
    if attacks.population is not None and recoder not in COVERING:
        yield (
            f"gate.attacks.population: needs a recoder whose values say whom they stand for "
            f"({', '.join(COVERING)}), got {recoder}"
        )
    if None in columns.values():
        return
    noisy = len(_of(columns, Perturb))
    if attacks.averaging is not None and noisy != 1:
        yield f"gate.attacks.averaging: needs exactly one column with the role perturb{among}, got {noisy}"


def _loss(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the loss that the recoder minimizes."""
    wanted = sections.get("anonymize")
    if wanted is None:
        return
    if wanted.weights and wanted.loss not in WEIGHED:
        yield f"anonymize.weights: must be left out with loss: {wanted.loss}, which weighs no columns"
    if (wanted.target is None) == (wanted.loss in LABELED):
        yield f"anonymize.target: must be given with loss: {' or '.join(LABELED)}, and only with it"
    if wanted.target is None:
        return
    column = columns.get(wanted.target)
    dropped = isinstance(column, Identifier) and not IDENTIFIER_ACTIONS[column.action].released
    if wanted.target not in columns or dropped:
        yield f"anonymize.target: must name a column that is released, got {wanted.target}"


def _options(sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield which options of the recoding do not fit its recoder."""
    anonymize = sections.get("anonymize")
    if anonymize is None:
        return
    if anonymize.prefer != "loss" and anonymize.recoder not in PREFERRING:
        yield (
            f"anonymize.prefer: needs a recoder that chooses between nodes ({', '.join(PREFERRING)}), "
            f"got {anonymize.recoder}"
        )
    if anonymize.suppress == "cells" and anonymize.recoder not in CELLS:
        yield (
            f"anonymize.suppress: cells needs a full-domain recoder ({', '.join(CELLS)}), "
            f"got {anonymize.recoder}"
        )


def _key(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    if "deidentify" not in sections or sections["deidentify"] is not None:
        return
    for action in (one.name for one in IDENTIFIER_ACTIONS.values() if one.keyed):
        names = [name for name in _of(columns, Identifier) if columns[name].action == action]
        if names:
            yield (
                f"deidentify: must be given (key_env or key_file) for action: {action} in {', '.join(names)}"
            )


def _recoder(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the columns do not fit the recoder, where it needs certain ones."""
    wanted = sections.get("anonymize")
    if wanted is None or None in columns.values():
        return
    quasi = [columns[name].hierarchy for name in _of(columns, Generalize)]
    numeric = sum(hierarchy_kind(hierarchy).ordered for hierarchy in quasi)
    limits = [
        getattr(wanted if getattr(wanted, kind) is not None else sections.get("gate"), kind, None) or {}
        for kind, limit in CLASS_LIMITS.items()
        if limit.by_distance
    ]
    ordered = [x for x in itertools.chain(*limits) if getattr(columns.get(x), "distance", None) == "ordered"]
    problem = recoder_of(wanted.recoder).misfit(Fit(len(quasi), numeric, len(ordered)))
    if problem is not None:
        yield f"anonymize.recoder: {problem}"


def _record_key(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    name = sections.get("record_key")
    if name is None:
        return
    if name not in columns or not isinstance(columns[name], (Identifier, type(None))):
        yield f"record_key: must name a column with the role identifier, got {name}"
    if "deidentify" in sections and sections["deidentify"] is None:
        yield "deidentify: must be given (key_env or key_file) for record_key"


def _composed(sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the sections that judge releases together."""
    gate, keyed = sections.get("gate"), sections.get("record_key") is not None
    if getattr(sections.get("perturb"), "republish", "fresh") == "sticky" and not keyed:
        yield "perturb.republish: sticky needs record_key"
    wanted = getattr(gate, "cross_release_k", None)
    if wanted is None:
        return
    if not keyed:
        yield "gate.cross_release_k: needs record_key"
    k = gate.k if gate is not None and gate.k is not None else getattr(sections.get("anonymize"), "k", None)
    if k is not None and wanted > k:
        yield f"gate.cross_release_k: must be at most the gate's k of {k}, got {wanted}"


def _schedule(sections: Mapping[str, Any]) -> Iterator[str]:
    path = getattr(sections.get("source"), "path", None)
    if path is None or "schedule" not in sections:
        return
    schedule = sections["schedule"]
    partitioned = schedule is not None and schedule.partitions is not None
    if _PARTITION in path and not partitioned:
        yield "source.path: {partition} needs schedule.partitions"


def _budget(sections: Mapping[str, Any]) -> Iterator[str]:
    budget = sections.get("budget")
    if budget is None or "perturb" not in sections:
        return
    noise, columns = sections["perturb"], sections.get("columns") or {}
    if noise is None:
        if not (_of(columns, Perturb) or _of(columns, PerturbCategories)):  # else `_perturb` asks for it
            yield "budget: must be left out when no column has the role perturb"
    elif noise.epsilon > budget.epsilon:
        yield (
            f"budget.epsilon: must be at least perturb.epsilon, got {budget.epsilon:g} and "
            f"{noise.epsilon:g}. No release would fit."
        )
    if budget.per == "record" and sections.get("source") is not None:
        path = sections["source"].path
        if path is None or _PARTITION not in posixpath.normpath(path):
            yield (
                "budget.per: record needs {partition} in source.path: each partition must have a file of its "
                "own, with records of its own. Use per: dataset for a source that is the same for all."
            )
