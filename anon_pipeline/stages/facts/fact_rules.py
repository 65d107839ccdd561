"""Rules for one value of a stage's facts: what it may be, so that no text can hide in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, get_args

from anon_pipeline.base.size_bounds import POLICY_NODES
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.policy.model import Policy

MOST = 2**53  # of a count: more is no count
_HEX = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{32}")
_FRACTION = re.compile(r"(0|[1-9][0-9]{0,399})(/[1-9][0-9]{0,399})?")


@dataclass(frozen=True, slots=True)
class Known:
    """What facts are compared with.

    policy: its columns are the only names.
    records: of the input, as the first stage says; no count of records is larger.
    """

    policy: Policy
    records: int


Rule = Callable[[Any, Known], bool]


def is_count(value: Any, most: int = MOST) -> TypeGuard[int]:
    """Tell whether a value is a whole number from 0 on, and not beyond a largest one."""
    return type(value) is int and 0 <= value <= most


def is_digest(value: Any) -> bool:
    """Tell whether a value is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def is_release_id(value: Any) -> bool:
    """Tell whether a value can be a release's id in the ledger."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    return is_count(value) or (type(value) is float and 0 <= value < math.inf)


def count(value: Any, known: Known) -> bool:
    """Tell whether this is a count of anything."""
    return is_count(value)


def records(value: Any, known: Known) -> bool:
    """Tell whether this is a count of records, or of classes of them."""
    return is_count(value, known.records)


def values(value: Any, known: Known) -> bool:
    """Tell whether this is a count of values of the perturb columns."""
    return is_count(value, known.records * len(known.policy.noisy))


def cells(value: Any, known: Known) -> bool:
    """Tell whether this is a count of cells of the generalize columns."""
    return is_count(value, known.records * len(known.policy.generalized))


def number(value: Any, known: Known) -> bool:
    """Tell whether this is a finite number from 0 on."""
    return _is_number(value)


def share(value: Any, known: Known) -> bool:
    """Tell whether this is a number from 0 to 1."""
    return _is_number(value) and value <= 1 + 1e-9


def flag(value: Any, known: Known) -> bool:
    """Tell whether this is true or false."""
    return isinstance(value, bool)


def digest(value: Any, known: Known) -> bool:
    """Tell whether this is a SHA-256 in hexadecimal."""
    return is_digest(value)


def release_id(value: Any, known: Known) -> bool:
    """Tell whether this can be a release's id in the ledger."""
    return is_release_id(value)


def is_fraction_text(value: Any, known: Known) -> bool:
    """Tell whether this is the exact text of a fraction."""
    return isinstance(value, str) and _FRACTION.fullmatch(value) is not None


def column(value: Any, known: Known) -> bool:
    """Tell whether this is the name of a column of the policy."""
    return isinstance(value, str) and value in known.policy.columns


def limit(value: Any, known: Known) -> bool:
    """Tell whether this names a limit on a column's classes."""
    return isinstance(value, str) and any(
        value == f"{kind}.{name}" for kind in CLASS_LIMITS for name in known.policy.columns
    )


def level(value: Any, known: Known) -> bool:
    """Tell whether this can be a level of a hierarchy."""
    return is_count(value, POLICY_NODES)


def one_of(model: Any, name: str) -> Rule:
    """Return the rule of one of the words that a field of the policy takes."""
    words = get_args(model.model_fields[name].annotation)
    return lambda value, known: isinstance(value, str) and value in words


def or_none(rule: Rule) -> Rule:
    """Return the rule of a value that may be missing."""
    return lambda value, known: value is None or rule(value, known)


def list_of(rule: Rule) -> Rule:
    """Return the rule of a list without repetitions; in memory it is a tuple."""
    return lambda value, known: (
        isinstance(value, (list, tuple))
        and all(rule(item, known) for item in value)
        and len(set(value)) == len(value)
    )


def either(*rules: Rule) -> Rule:
    """Return the rule of a value that keeps one of several."""
    return lambda value, known: any(rule(value, known) for rule in rules)


def mapping_of(names: Rule, values: Rule) -> Rule:
    """Return the rule of a mapping of any size."""
    return lambda value, known: (
        isinstance(value, Mapping)
        and all(names(name, known) and values(below, known) for name, below in value.items())
    )


def exactly(rules: Mapping[str, Rule]) -> Rule:
    """Return the rule of a mapping of just these names."""
    return lambda value, known: (
        isinstance(value, Mapping)
        and set(value) == set(rules)
        and all(rule(value[name], known) for name, rule in rules.items())
    )
