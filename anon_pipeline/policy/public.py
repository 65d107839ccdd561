"""The public part of a policy, as a document published with its release, and the policy read back from it.

What the report shows of a policy is in it, defaults spelled out. What is private is not: source, keys,
ledger, vault, schedule. Of values that the policy lists there is how many they are, of a taxonomy how many
are below each of its names, of a table nothing. Decisions: docs/adr/0061-the-policy-beside-its-release.md.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import PrivateAttr, ValidationError

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.size_bounds import POLICY_NODES
from anon_pipeline.policy.hierarchies import HIERARCHIES
from anon_pipeline.policy.later_rules import RETIRED
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.walks import public_fields

VERSION = 1
"""Of documents that are written from now on; to be raised where a field that was there becomes public."""
_KEYS = {"public_policy", "release", "policy_digest", "made_by", "signs", "attributes"}
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HIDDEN = "hidden"
_STAND_IN = "(not shown here)"
_KEY = "NOT_SHOWN_HERE"
_NO_REVIEW = "0" * 16
_IN_FILES = next(kind.file for kind in HIERARCHIES.values() if kind.file is not None)


@dataclass(frozen=True, slots=True)
class Said:
    """What a document says of the policy whose public part it is.

    digest, making: of the whole policy; nothing can compute them from its public part.
    hidden: columns with values or a hierarchy that are not public.
    """

    digest: str = ""
    making: str = ""
    hidden: frozenset[str] = frozenset()


class PublicPolicy(Policy):
    """The public part of a policy: stand-ins are in the place of what is private.

    Its digests are those of the whole policy, as the document says them.
    """

    _said: Said = PrivateAttr(default_factory=Said)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole policy."""
        return self._said.digest

    @property
    def making(self) -> str:
        """SHA-256 of the fields of the whole policy that decide what the private tables are."""
        return self._said.making

    @property
    def is_reviewed(self) -> bool:
        """Whether somebody has reviewed the whole policy: otherwise its public part names nobody."""
        return self.reviewed is not None

    @property
    def hidden(self) -> frozenset[str]:
        """Columns with values or a hierarchy that are not public: there are stand-ins of the same number."""
        return self._said.hidden


def public_document(policy: Policy) -> dict[str, Any]:
    """Return what is public of a policy, in JSON types."""
    return {
        "public_policy": VERSION,
        "release": policy.name,
        "policy_digest": policy.digest,
        "made_by": policy.making,
        "signs": policy.publish.sign is not None,
        "attributes": public_attributes(policy, defaults=True, counted=_hide),
    }


def public_attributes(
    policy: Policy, *, defaults: bool = False, counted: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """Return what is public of the fields, as `walks.public_fields`, without a review of another state.

    The digest of a review is not public, so readers could not tell that it is of another state.
    """
    found = public_fields(policy, defaults=defaults, counted=counted)
    if not policy.is_reviewed:
        found.pop("reviewed", None)
    return found


def _hide(value: Any) -> dict[str, Any]:
    return {_HIDDEN: _size_of(value)}


def _size_of(value: Any) -> Any:
    """Return how many values are listed; below each name of a taxonomy, sorted by name; None of a path."""
    if isinstance(value, Mapping):
        return [_size_of(value[name]) for name in sorted(value)]
    return len(value) if isinstance(value, list) else None


def public_policy(document: Any) -> PublicPolicy:
    """Read the public part of a policy.

    Args:
        document: as JSON has it; nothing of it is quoted.
    Raises:
        InputError: it is not the public part of a policy.
        PolicyError: it is, and this version, or its plugins, cannot read it.
    """
    if not _is_public_part(document):
        raise InputError("it must be the public part of a policy")
    hidden: set[str] = set()
    try:
        attributes = dict(document["attributes"])
        attributes["columns"] = {
            name: _stood_in(name, column, hidden) for name, column in attributes["columns"].items()
        }
        attributes["source"], attributes["deidentify"] = {"path": _STAND_IN}, {"key_env": _KEY}
        sign = {"sign": {"key_env": _KEY}} if document["signs"] else {}
        attributes["publish"] = {**attributes.get("publish", {}), **sign}
        if attributes.get("reviewed") is not None:
            attributes["reviewed"] = {**attributes["reviewed"], "digest": _NO_REVIEW}
        _name_population(attributes)
        policy = PublicPolicy.model_validate(attributes, context={RETIRED: True})
    except (PolicyError, ValidationError, LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise PolicyError("this version, with the plugins that are here, cannot read it") from None
    if policy.name != document["release"]:
        raise InputError("it must be of the release that it names")
    policy._said = Said(document["policy_digest"], document["made_by"], frozenset(hidden))
    return policy


def _is_public_part(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and set(document) == _KEYS
        and type(document["public_policy"]) is int
        and isinstance(document["release"], str)
        and all(_is_digest(document[name]) for name in ("policy_digest", "made_by"))
        and isinstance(document["signs"], bool)
        and isinstance(document["attributes"], dict)
    )


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _name_population(attributes: dict[str, Any]) -> None:
    """Put a stand-in in the place of the path of a population's file, which a limit on it needs."""
    gate = attributes.get("gate") or {}
    attacks = gate.get("attacks") or {}
    if attacks.get("population") is not None:
        named = {**attacks["population"], "path": _STAND_IN}
        attributes["gate"] = {**gate, "attacks": {**attacks, "population": named}}


def _stood_in(name: str, column: Mapping[str, Any], hidden: set[str]) -> dict[str, Any]:
    """Put stand-ins in the place of what is hidden of a column, and note that something is."""
    found = {key: _stand_in(value) for key, value in column.items()}
    if isinstance(column.get("hierarchy"), dict):
        found["hierarchy"] = {key: _stand_in(value) for key, value in column["hierarchy"].items()}
    elif "hierarchy" not in column and _needs_hierarchy(column):  # a plugin's, none of it public
        found["hierarchy"] = {_IN_FILES: _STAND_IN}
    if found != column:
        hidden.add(name)
    return found


def _needs_hierarchy(column: Mapping[str, Any]) -> bool:
    by_level = column.get("level") is not None or column.get("distance") == "hierarchical"
    return column.get("role") == "generalize" or by_level


def _stand_in(value: Any) -> Any:
    """Return a value, or what stands for it if it is hidden."""
    if not (isinstance(value, dict) and set(value) == {_HIDDEN}):
        return value
    size, numbers = value[_HIDDEN], itertools.count(1)
    if _leaves(size) > POLICY_NODES:
        raise PolicyError(f"the policy must have at most {POLICY_NODES} keys and values, got more")
    return _STAND_IN if size is None else _stand_in_names(size, numbers)


def _leaves(size: Any) -> int:
    if isinstance(size, list):
        return 1 + sum(map(_leaves, size))
    if size is None:
        return 1
    if type(size) is not int or size < 0:
        raise ValueError("a number of values must be a whole number")
    return size


def _stand_in_names(size: Any, numbers: Iterator[int]) -> Any:
    """Return as many names as were hidden, each another one; of a taxonomy by the names above them."""
    if isinstance(size, list):
        return {f"(name {next(numbers)})": _stand_in_names(below, numbers) for below in size}
    return [f"(value {next(numbers)})" for _ in range(size)]


def differs(document: Mapping[str, Any], policy: Policy) -> bool:
    """Tell whether a document says anything else of a policy than the policy itself, or less than it must.

    Args:
        document: as `public_document` wrote it, perhaps in another version; `public_policy` reads it.
        policy: the whole policy.
    """
    said, signs = document["attributes"], policy.publish.sign is not None
    if document["signs"] != signs or not _within(said, policy.model_dump(mode="json")):
        return True
    least = public_attributes(policy, counted=_hide)
    return document["public_policy"] == VERSION and not _within(least, said)


def _within(shown: Any, whole: Any) -> bool:
    """Return whether the shown part agrees with the whole policy, and hidden lists have the stated size."""
    if whole is not None and shown == {_HIDDEN: _size_of(whole)}:
        return True
    if isinstance(shown, dict) and isinstance(whole, dict):
        return all(name in whole and _within(below, whole[name]) for name, below in shown.items())
    return type(shown) is type(whole) and bool(shown == whole)
