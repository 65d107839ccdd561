"""The policies that are compared: one policy, and others that differ from it in a few keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.catalog.entries import Mechanism
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.marks import Fits, marked_values
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.whole_column_rules import needs_distribution
from anon_pipeline.tuning.equal_amount import amount_at

SHORT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "k": "anonymize.k",
        "recoder": "anonymize.recoder",
        "loss": "anonymize.loss",
        "epsilon": "perturb.epsilon",
        "mechanism": "perturb.mechanism",
        "confidence": "suppress.confidence",
    }
)
"""Short names of keys, by which variants are given."""
_SECTIONS: Final = ("columns", "anonymize", "perturb", "suppress", "sample", "gate")
_KEY: Final = re.compile(r"[a-z_]{1,20}")
_UNSCALED: Final = MappingProxyType({"sensitivity": "class", "input_bounds": None, "weight": 1})
"""What a column has that gets no noise of a scale."""
ALL: Final = "all"
"""Stands for every recoder."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A policy that is compared with others.

    name: the settings that were asked for; equal risk may change k and ε.
    policy: None where there is no such policy.
    problem: why there is none; empty if there is.
    """

    name: str
    policy: Policy | None
    problem: str = ""


def variants_of(policy: Policy, settings: Sequence[str], *, equal: bool = False) -> list[Variant]:
    """Return the policy itself, and a variant for each setting.

    Args:
        settings: each ``key=value``, or several of them between commas; ``recoder=all`` stands for every
            recoder that fits the policy, its own included. A key is a path in the policy (``anonymize.k``)
            or one of `SHORT`.
        equal: whether amounts will be chosen, see `equal_amount`: those that are missing are filled in, and
            the names of variants do not say them.
    Raises:
        InputError: a setting that cannot be read, or a key that is not compared.
    """
    found = [Variant("as in the policy", policy)]
    for setting in settings:
        values = _parse(setting)
        if values.get("anonymize.recoder") == ALL:
            every = [
                _variant(policy, {**values, "anonymize.recoder": name}, equal=equal) for name in RECODERS
            ]
            found += [one for one in every if one.policy is not None]
        else:
            found.append(_variant(policy, values, equal=equal))
    return found


def _parse(setting: str) -> dict[str, Any]:
    """Read one setting: a value for each key, by its path."""
    values: dict[str, Any] = {}
    for part in _parts(setting):
        key, equals, text = (piece.strip() for piece in part.partition("="))
        path = SHORT.get(key, key)
        if not equals or path.split(".")[0] not in _SECTIONS or "." not in path:
            got = f", got {key}" if _KEY.fullmatch(key) else ""
            raise InputError(
                "--with: must be KEY=VALUE, or several of them between commas. KEY is "
                f"{', '.join(SHORT)}, or a path that begins with {', '.join(_SECTIONS)} and a dot, such as "
                f"anonymize.k{got}"
            )
        try:
            values[path] = None if text == "none" else yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, TypeError, RecursionError):  # PyYAML lets some escape
            raise InputError(f"--with: the value of {path} cannot be read") from None
    return values


def _parts(setting: str) -> list[str]:
    """Cut a setting at the commas that are in no brackets.

    >>> _parts("k=5,columns.zip.hierarchy={mask: [3, 4]}")
    ['k=5', 'columns.zip.hierarchy={mask: [3, 4]}']
    """
    parts, depth = [""], 0
    for sign in setting:
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _variant(policy: Policy, values: Mapping[str, Any], *, equal: bool) -> Variant:
    """Make one variant; what a new recoder cannot take is left out, unless it was asked for."""
    attributes = deepcopy(policy.model_dump())
    recoder = RECODERS.get(str(values.get("anonymize.recoder")))
    if recoder is not None:
        attributes["anonymize"] |= {
            **{key: None for key in ("gamma", "levels", "classes") if key not in recoder.options},
            **({} if recoder.prefers else {"prefer": "loss"}),
            **({} if recoder.family.cells else {"suppress": "records"}),
        }
    short = {path: key for key, path in SHORT.items()}
    named = {path: value for path, value in values.items() if not (equal and path.endswith(".amount"))}
    name = ", ".join(f"{short.get(path, path)} = {_text(value)}" for path, value in (named or values).items())
    for path, value in values.items():
        if not _set(attributes, path.split("."), value):
            return Variant(name, None, f"{path}: must be below a section that the policy has")
    if "perturb.mechanism" in values and _all_named(attributes, policy):
        own = "each column names its own. Use columns.NAME.mechanism"
        return Variant(name, None, f"perturb.mechanism: must be taken by a column, but {own}")
    _fit_mechanisms(attributes, policy, values, equal=equal)
    try:
        changed = policy_from(attributes)
        refuse_contradictions(changed)
    except PolicyError as error:
        return Variant(name, None, "; ".join(error.problems))
    return Variant(name, changed)


def _fit_mechanisms(
    attributes: dict[str, Any], policy: Policy, values: Mapping[str, Any], *, equal: bool
) -> None:
    """Leave out what the mechanisms of a variant cannot take, but what it asks for itself.

    Mechanisms that change whole columns take no sensitivity, weight or limit that needs a distribution, the
    others take no amount. Values that have none to move with do not move together.

    Args:
        equal: whether to fill in amounts that are missing.
    """
    section = attributes["perturb"]
    if section is None or not any(path.endswith(".mechanism") for path in values):
        return
    kinds = {
        name: MECHANISMS.get(str(attributes["columns"][name].get("mechanism") or section["mechanism"]))
        for name in policy.perturbed
    }
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        if kind is not None and (kind.whole_column is None or kind.whole_column.amount == "none"):
            found[f"columns.{name}.amount"] = None
        elif kind is not None and equal and attributes["columns"][name].get("amount") is None:
            found[f"columns.{name}.amount"] = amount_at(kind.name, 0, policy.perturbed[name].resolution)
        if kind is not None and kind.whole_column is None:
            continue
        if kind is not None:
            found |= {f"columns.{name}.{key}": one for key, one in _UNSCALED.items()}
    if any(kind is not None and kind.whole_column is not None for kind in kinds.values()):
        found |= {path: None for path, mark in _fits(policy) if mark.broken is needs_distribution}
    changes = {
        name: MECHANISMS.get(str(attributes["columns"][name]["mechanism"])) for name in policy.categorical
    }
    found |= dict(_fit_categories(changes)) | dict.fromkeys(_apart(attributes, policy), False)
    every = (*kinds.values(), *changes.values())
    promised = all(kind is None or kind.promises != "nothing" for kind in every)
    found["perturb.without_guarantee"] = not promised
    for path, value in found.items():
        if path not in values:
            _set(attributes, path.split("."), value)


def _fit_categories(kinds: Mapping[str, Mechanism | None]) -> Iterator[tuple[str, Any]]:
    """Yield what columns of categories cannot have: a key, and the value without it.

    Args:
        kinds: of each column what changes it as a whole; None for drawn categories.
    """
    for name, kind in kinds.items():
        changed = None if kind is None else kind.whole_column
        if changed is None or changed.amount == "none":
            yield f"columns.{name}.amount", None
        if changed is None or changed.categories != "ordered":
            yield f"columns.{name}.ordered", False
        if changed is not None:
            yield f"columns.{name}.weight", 1


def _apart(attributes: dict[str, Any], policy: Policy) -> Iterator[str]:
    """Yield the keys ``together`` of columns that have no other one to move with."""
    section, joint = attributes["perturb"], []
    for name in policy.joint_columns:
        kind = MECHANISMS.get(str(attributes["columns"][name].get("mechanism") or section["mechanism"]))
        if kind is not None and kind.whole_column is not None and kind.whole_column.joint:
            joint.append(name)
        else:
            yield f"columns.{name}.together"
    if len(joint) == 1:
        yield f"columns.{joint[0]}.together"


def _all_named(attributes: dict[str, Any], policy: Policy) -> bool:
    """Tell whether no column takes the mechanism of the section."""
    return bool(policy.perturbed) and all(
        attributes["columns"][name].get("mechanism") is not None for name in policy.perturbed
    )


def _fits(policy: Policy) -> Iterator[tuple[str, Fits]]:
    """Yield the limits and the confidence of a policy that must fit other sections."""
    for section in ("suppress", "gate"):
        for path, _, mark in marked_values(section, getattr(policy, section), Fits):
            yield path, mark


def _text(value: Any) -> str:
    return "none" if value is None else str(value)


def _set(attributes: dict[str, Any], path: list[str], value: Any) -> bool:
    """Set a value where its path leads; tell whether there is such a place."""
    *above, last = path
    place: Any = attributes
    for step in above:
        place = place.get(step) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        return False
    place[last] = value
    return True
