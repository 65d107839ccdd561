"""The shape of a manifest: every key that it must have, no other, and what kind of value each leaf holds.

Keys of verdicts are those that a verdict publishes, those of facts from the rules that every field has
(`facts.fields`), so that a field that is added is known here, too. A missing key, an unknown one and a
value of another kind are refused, whatever they say.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.verdicts import BANDS
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.publish.file_formats import is_type
from anon_pipeline.publish.manifest.manifest import RECORDED
from anon_pipeline.stages.facts.fact_rules import is_count, is_digest
from anon_pipeline.stages.facts.fields import PUBLIC_FIELDS
from anon_pipeline.stages.facts.kinds import broken_kinds

Kind = Callable[[Any], bool]
"""Tells whether a leaf is of a kind."""


@dataclass(frozen=True, slots=True)
class Each:
    """Of a list, or of a mapping of any names: what each of its values is.

    below: the shape of a value.
    named: whether it is a mapping.
    """

    below: Shape
    named: bool = False


Shape = Kind | Each | Mapping[str, "Shape"]
"""A leaf's kind, a list, or a mapping of just these keys; a key that ends with ``?`` may lack."""

_LONGEST = 10_000  # characters of one text
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!_-]{0,60}")
_SENSES = ("at least", "at most", "below", "holds")


def is_text(value: Any) -> bool:
    """Tell whether this is a text without control characters, not empty and not too long."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and is_plain(value)


def is_whole(value: Any) -> bool:
    """Tell whether this is a whole number from 0 on."""
    return is_count(value)


def is_real(value: Any) -> bool:
    """Tell whether this is a finite number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)


def or_none(shape: Shape) -> Kind:
    """Return the kind of a value that may be null; else it has a shape."""
    return lambda value: value is None or not any(True for _ in misfits(value, shape))


def _time(value: Any) -> bool:
    """Tell whether this is a time with its zone, to the second, in the one form in which it is written."""
    try:
        when = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return when.tzinfo is not None and when.isoformat(timespec="seconds") == value


def _partition(value: Any) -> bool:
    """Tell whether this can be the key of a partition, which names a folder."""
    try:
        return isinstance(value, str) and plain_partition(value) == value
    except InputError:
        return False


def _day(value: Any) -> bool:
    """Tell whether this is a day, in the one form in which it is written."""
    try:
        return bool(date.fromisoformat(value).isoformat() == value)
    except (TypeError, ValueError):
        return False


def _positive(value: Any) -> bool:
    return is_real(value) and value > 0


def is_version(value: Any) -> bool:
    """Tell whether this is a version of a package."""
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _key_id(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{16}", value) is not None


def _is_signature(value: Any) -> bool:
    """Tell whether this is an Ed25519 signature in base64."""
    try:
        return isinstance(value, str) and len(base64.b64decode(value, validate=True)) == 64
    except (binascii.Error, ValueError):
        return False


def _is(*words: object) -> Kind:
    return lambda value: any(type(value) is type(word) and value == word for word in words)


FILE: Mapping[str, Shape] = {
    "name": is_text,
    "sha256": is_digest,
    "size": is_whole,
    "records": is_whole,
    "format": _is(*RELEASE_FORMATS),
    "types": Each(is_type, named=True),
}
_VERDICT: Mapping[str, Shape] = {
    "limit": is_text,
    "status": _is("passed", "warned"),
    "value": or_none(is_real),
    "bound": or_none(is_real),
    "sense": _is(*_SENSES),
    "reason": _is(None),
}
_PUBLISHED = GateReport((Verdict("limit", Status.PASSED),), "", "").to_json()["verdicts"][0]
VERDICT: Mapping[str, Shape] = {
    **{name: _VERDICT.get(name, or_none(is_real)) for name in _PUBLISHED},
    "band?": _is(*BANDS),
}
GATE: Mapping[str, Shape] = {
    "passed": _is(True),
    "data_digest": is_digest,
    "policy_digest": is_digest,
    "verdicts": Each(VERDICT),
}
TOP: Mapping[str, Shape] = {
    "manifest_version": _is(2),
    "release": is_text,
    "partition": or_none(_partition),
    "made_at": _time,
    "files": Each(FILE),
    "policy_digest": is_digest,
    "data_digest": is_digest,
    "gate": GATE,
    "epsilon": or_none(_positive),
    "guarantee": Each(is_text),
    "allowed": Each({"column": is_text, "detector": is_text, "reason": is_text}),
    "acknowledged": Each(
        {
            "columns": Each(is_text),
            "share": _positive,
            "who": is_text,
            "when": _day,
            "why": is_text,
            "until": _day,
        }
    ),
    "facts": lambda value: True,  # see `facts.kinds`
    "packages": dict.fromkeys(RECORDED, is_version),
    "plugins?": Each({"name": is_text, "version": is_text, "kinds": Each(is_text)}),
    "policy?": {"name": is_text, "sha256": is_digest, "size": is_whole},
    "report": {"name": is_text, "sha256": is_digest, "size": is_whole},
    "signature?": {"algorithm": _is("ed25519"), "key_id": _key_id, "value": _is_signature},
}


def broken_shape(document: Mapping[str, Any]) -> list[str]:
    """List the places of a manifest of this version that lack, are unknown, or hold another kind of value.

    Returns:
        Each place once, by the keys that lead to it; of unknown keys only where they are, never what was
        found.
    """
    facts = broken_kinds(document.get("facts"), PUBLIC_FIELDS)
    return [*strange_leaves(document), *misfits(document, TOP), *facts]


def strange_leaves(value: Any, at: str = "") -> Iterator[str]:
    """Yield the first-level places below which a leaf is no number that a float holds, or no plain text."""
    if isinstance(value, (dict, list)):
        for name, below in value.items() if isinstance(value, dict) else enumerate(value):
            inner = strange_leaves(below, at or str(name))
            yield from itertools.islice(inner, 1)
    elif not (value is None or isinstance(value, bool) or is_real(value) or is_text(value)):
        yield at


def misfits(value: Any, shape: Shape, at: str = "") -> Iterator[str]:
    """Yield the places where a value has not its shape; ``at``: the keys that lead to it."""
    if isinstance(shape, Each):
        if not isinstance(value, dict if shape.named else list):
            yield at
            return
        named = all(is_text(name) for name in value) if isinstance(value, dict) else True
        below = value.values() if isinstance(value, dict) else value
        inner = (place for item in below for place in misfits(item, shape.below, f"{at}[]"))
        yield from dict.fromkeys(inner if named else [f"{at}: its keys"])
    elif isinstance(shape, Mapping):
        yield from _keys(value, shape, at)
    elif not shape(value):
        yield at


def _keys(value: Any, shape: Mapping[str, Shape], at: str) -> Iterator[str]:
    """Yield the places where a mapping has not just the keys of its shape, or one has not its own."""
    if not isinstance(value, dict):
        yield at
        return
    known = {name.removesuffix("?"): name for name in shape}
    before = f"{at}." if at else ""
    if unknown := len(value.keys() - known.keys()):
        yield f"{at or 'the manifest'}: {unknown} unknown {'key' if unknown == 1 else 'keys'}"
    for name, key in known.items():
        if name in value:
            yield from misfits(value[name], shape[key], f"{before}{name}")
        elif not key.endswith("?"):
            yield f"{before}{name}"
