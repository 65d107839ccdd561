"""The mistakes of a policy in words: what must be there, what is, and what to write instead.

Pydantic finds them; its own words are for programmers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from anon_pipeline.base.places import is_url
from anon_pipeline.catalog.detectors import NAMES
from anon_pipeline.policy.columns import COLUMN_TAGS
from anon_pipeline.policy.fields_at import Place, choices_at, fields_at, is_mapping_of_numbers
from anon_pipeline.policy.hierarchies import HIERARCHY_TAGS
from anon_pipeline.policy.other_types import of_other_types
from anon_pipeline.policy.source import OF_PLUGINS

_TAGS = {*COLUMN_TAGS, *HIERARCHY_TAGS}

_RULES: Mapping[str, str] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "date_from_datetime_inexact": "must be a date, such as 2026-11-22",
    "date_from_datetime_parsing": "must be a date, such as 2026-11-22",
    "date_parsing": "must be a date, such as 2026-11-22",
    "date_type": "must be a date, such as 2026-11-22",
    "dict_type": "must be a mapping",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "model_attributes_type": "must be a mapping",
    "model_type": "must be a mapping",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be a text",
    "too_short": "must have at least {min_length} of them",
    "tuple_type": "must be a list",
}
"""What a value must be, by pydantic's type of the error."""

_FROM_DATA = "auto"  # what is written where a value is hoped to be taken from the data
_LISTED = 10  # of names that are listed all


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Say every mistake of a policy, a line each or more.

    Values of ``deidentify`` and of keys that are not known are not repeated: they may be secrets.

    Args:
        model: what did not validate.
    """
    items = error.errors(include_url=False)
    meant, lines = _misspelled_keys(items), list[str]()
    places = [item["loc"] for item in items]
    for item in items:
        loc = item["loc"]
        if item["type"] == "missing" and loc in meant.values():
            continue  # said with the key that is misspelled
        if item["type"] == "too_short" and any(
            len(loc) < len(other) and other[: len(loc)] == loc for other in places
        ):
            continue  # an entry of it is wrong, and was left out for that
        where = ".".join(str(part) for part in without_tags(loc))
        if not where:  # the rules between sections name their own place
            lines += item["msg"].removeprefix("Value error, ").split("\n")
        else:
            lines.append(f"{where.removesuffix('.[key]')}: {_sentence(item, model, meant)}")
    return lines


def mistake_at(error: ValidationError, loc: Place, model: type[BaseModel]) -> str:
    """Say the first mistake of a value that was validated by itself, as if the whole model had been.

    Args:
        loc: where the value is in the model.
    """
    item = error.errors(include_url=False)[0]
    return _sentence({**item, "loc": (*loc, *item["loc"])}, model, {})


def without_tags(loc: Place) -> list[int | str]:
    """Drop pydantic's union tags: ``columns.age.generalize.hierarchy.mask`` → ``columns.age.hierarchy``."""
    if len(loc) < 3 or loc[0] != "columns":
        return list(loc)
    kept: list[int | str] = [*loc[:2]]
    rest = list(loc[2:])
    if rest and rest[0] in _TAGS:
        rest = rest[1:]
    if len(rest) > 2 and rest[0] == "hierarchy" and rest[1] in _TAGS:
        rest = [rest[0], *rest[2:]]
    return kept + rest


def _sentence(item: ErrorDetails, model: type[BaseModel], meant: Mapping[Place, Place]) -> str:
    say = _WORDS.get(item["type"])
    if item["loc"][-1] == "[key]":
        return (
            "names must be texts, not empty; YAML reads no, yes, on, off, null and numbers as something "
            "else. Put it in quotes."
        )
    if item["type"] == "extra_forbidden":
        return _unknown(item, model, meant)
    if say is not None:
        return say(item, model)
    rule = _RULES.get(item["type"])
    if rule is None:
        message = item["msg"].removeprefix("Value error, ").removeprefix(f"{item['loc'][-1]} must ")
        whole = "must " + message if item["msg"].endswith(f" must {message}") else message
        return f"{whole[:1].lower()}{whole[1:]}{_got(item)}"
    bounds = {
        name: f"{one:g}" if isinstance(one, float) else one for name, one in item.get("ctx", {}).items()
    }
    return f"{rule.format(**bounds)}{_got(item)}{_advice(item, model)}"


def _missing_sentence(item: ErrorDetails, model: type[BaseModel]) -> str:
    """Say what a key that is missing takes: its choices, the keys of a section, or what it is."""
    field = fields_at(model, item["loc"][:-1]).get(str(item["loc"][-1]))
    choices, below = choices_at(model, item["loc"]), fields_at(model, item["loc"])
    if choices:
        return f"must be given, {_one_of(choices)}"
    if below:
        needed = ", ".join(name for name, one in below.items() if one.is_required())
        return "must be given, a mapping" + (f" with {needed}" if needed else "")
    said = "" if field is None or not field.description else f". {field.description}"
    return f"must be given{said}"


def _literal(item: ErrorDetails, model: type[BaseModel]) -> str:
    choices = choices_at(model, item["loc"])
    wanted = _one_of(choices) if choices else f"must be {item['ctx']['expected']}"
    return f"{'must be ' if choices else ''}{wanted}{_got(item)}{_perhaps(item['input'], choices)}"


def _role(item: ErrorDetails, model: type[BaseModel]) -> str:
    given = item["input"]
    meant = get_close_matches("role", map(str, given), n=1) if isinstance(given, Mapping) else []
    if meant and "role" not in given:
        return f"{meant[0]} is not known here. Is it role?"
    return f"{item['msg']}{_written_value(item, 'role', COLUMN_TAGS[:-1])}"


def _hierarchy(item: ErrorDetails, model: type[BaseModel]) -> str:
    given = item["input"]
    hints = [_perhaps(key, HIERARCHY_TAGS) for key in given] if isinstance(given, Mapping) else []
    return f"{item['msg']}{_got(item)}{next(filter(None, hints), '')}"


def _unknown(item: ErrorDetails, model: type[BaseModel], meant: Mapping[Place, Place]) -> str:
    """Say what may be meant by a key that is not known; its value may be a secret."""
    key, known = str(item["loc"][-1]), fields_at(model, item["loc"][:-1])
    if item["loc"] in meant:
        return f"is not known here. Is it {meant[item['loc']][-1]}?"
    if ":" in key:
        return "is not known here. Write a space after the colon."
    if places := _places_of(key, item["loc"], model):
        return f"is not known here. It is a key of {places}."
    if len(item["loc"]) == 1 and (said := of_other_types(key, known)):
        return f"is not known here. {said}"
    if close := get_close_matches(key, known, n=1):
        return f"is not known here. Is it {close[0]}?"
    return "is not known here" + (f". Known are {', '.join(known)}." if known else "")


def _places_of(key: str, loc: Place, model: type[BaseModel]) -> str:
    """Say where else in a policy a key is known: in the policy itself, in sections, in columns of a role."""
    if key in model.model_fields:
        return "the policy itself, next to columns"
    if loc[0] == "columns":
        kinds = [tag for tag in COLUMN_TAGS if key in fields_at(model, (*loc[:2], tag))]
        roles = ["perturb with values" if tag == "categories" else tag for tag in kinds]
        return f"columns with role {', '.join(roles)}" if roles else ""
    return ", ".join(name for name in model.model_fields if key in fields_at(model, (name,)))


_WORDS: Mapping[str, Callable[[ErrorDetails, type[BaseModel]], str]] = {
    "missing": _missing_sentence,
    "literal_error": _literal,
    "role": _role,
    "hierarchy": _hierarchy,
    "invalid_key": lambda item, model: (
        "keys must be texts. Write decimals with a point, and other keys in quotes."
    ),
}


def _advice(item: ErrorDetails, model: type[BaseModel]) -> str:
    """Say what to write instead, where that is obvious."""
    kind, value, loc = item["type"], item["input"], item["loc"]
    plain = isinstance(value, (str, int, float)) and not isinstance(value, bool) and _is_public(item)
    if kind == "tuple_type":
        written = f"[{value}]" if plain else "it as [one, other]"
        shown = ". Begin each entry with a dash." if isinstance(value, Mapping) else f". Write {written}."
        return shown if value != _FROM_DATA else ". It is not taken from the data."
    if kind == "dict_type" and loc == ("columns",):
        column = "role: generalize" if "anonymize" in model.model_fields else "bounds: [0, 99], otherwise: 0"
        return f". Write each column as a key: {{age: {{{column}}}}}."
    if kind == "dict_type" and plain and is_mapping_of_numbers(model, loc):
        return f". Write {{COLUMN: {value}}}."
    if kind == "dict_type" and loc[-1] == "allow":
        given = value if isinstance(value, (list, tuple)) else [value]
        names = [name for name in NAMES if name in given] or ["DETECTOR"]
        return f". Write {{{', '.join(f'{name}: why' for name in names)}}}."
    if kind in {"dict_type", "model_type", "model_attributes_type"}:
        below = fields_at(model, loc)
        needed = [name for name, field in below.items() if field.is_required()]
        keys = list(below) if len(below) <= _LISTED else needed or list(below)[:_LISTED]
        before = ", at least " if keys == needed != list(below) else ": "
        listed = before + ", ".join(keys) if keys else ""
        return f". Write keys and their values{listed}."
    return _share(value, item.get("ctx", {}).get("le", item.get("ctx", {}).get("lt"))) if plain else ""


def _share(value: Any, most: Any) -> str:
    """Say how to write a share that was given in percent, or a number with a decimal comma."""
    text = str(value).strip()
    percent = text.removesuffix("%").strip()
    if not _is_number(percent):
        return ". Write decimals with a point." if _is_number(text.replace(",", ".", 1)) else ""
    meant = text.endswith("%") or (most == 1 and 1 < float(percent) <= 100)
    return f". Write {float(percent) / 100:g} for {float(percent):g} %." if meant else ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _misspelled_keys(items: Sequence[ErrorDetails]) -> dict[Place, Place]:
    """Return unknown keys that are probably a required key, misspelled, which is missing."""
    missing = [item["loc"] for item in items if item["type"] == "missing"]
    meant = {}
    for loc in (item["loc"] for item in items if item["type"] == "extra_forbidden"):
        names = [str(other[-1]) for other in missing if other[:-1] == loc[:-1]]
        if close := get_close_matches(str(loc[-1]), names, n=1):
            meant[loc] = (*loc[:-1], close[0])
    return meant


def _one_of(choices: Sequence[Any]) -> str:
    words = [str(one).lower() if isinstance(one, bool) else str(one) for one in choices]
    return f"one of {', '.join(words)}" if len(words) > 1 else words[0]


def _perhaps(written: Any, choices: Iterable[Any]) -> str:
    """Say which of the names is probably meant."""
    names = {str(one).lower(): str(one) for one in choices}
    close = get_close_matches(str(written).lower(), names, n=1) if isinstance(written, str) else []
    return f". Is it {names[close[0]]}?" if close and written not in names.values() else ""


def _written_value(item: ErrorDetails, key: str, choices: Iterable[Any]) -> str:
    """Show what stands at a key of a mapping that is wrong."""
    given = item["input"].get(key) if isinstance(item["input"], Mapping) else None
    return f", got {given!r}{_perhaps(given, choices)}" if isinstance(given, str) else ""


def _got(item: ErrorDetails) -> str:
    """Show a value that is wrong, unless it may be a key."""
    value, said = item.get("input"), "got" in item["msg"] and item["type"] not in _RULES
    shown = _is_public(item) and not said and isinstance(value, (str, int, float))
    return f", got {value!r}" if shown else ""


def _is_public(item: ErrorDetails) -> bool:
    """Tell whether a value may be repeated: no key, no name of a key's variable, no URL.

    A URL may hold a password, even one so wrong that it does not look like a URL: its key decides.

    Nor anything of a kind of source that a plugin brought: nobody here knows what is secret of it.
    """
    loc = item["loc"]
    secret = loc[0] == "deidentify" or str(loc[-1]).endswith(("_env", "url"))
    foreign = loc[0] == "source" and not {*loc[1:2]}.isdisjoint(OF_PLUGINS)
    return not (secret or foreign or is_url(str(item.get("input"))))
