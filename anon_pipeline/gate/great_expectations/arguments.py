"""What an expectation asks by its arguments: the layout of the batch, and the demand that it must keep.

Arguments describe any table, or are a policy and the name of one of its limits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from great_expectations.compatibility import pydantic

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.gate.great_expectations.batch import ORIGINAL
from anon_pipeline.gate.great_expectations.cases import Layout
from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.policy.hierarchies import ALL_OR_NOTHING
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity

Arguments = Mapping[str, Any]
"""The arguments of an expectation by name, as JSON types; None where one is not given."""

GENERALIZED: dict[str, Any] = {"role": "generalize", "hierarchy": ALL_OR_NOTHING}
"""How a column was generalized plays no part in a batch: its values are there."""

INSENSITIVE: dict[str, Any] = {"role": "insensitive"}
"""How a column was rounded, or its level, plays no part in a batch either."""

_COLUMN = "column"  # the sensitive column of a table without a policy, in the policy that is made for it
_REALIZED = {"linking": "realized"}

if TYPE_CHECKING:
    Count = int
    Name = str
    Names = list[str]
    Share = float
    Confidence = float
    Positives = list[float]
else:
    Count = pydantic.conint(strict=True, ge=1, lt=2**63)  # strict: 4.7 must not become a limit of 4
    Name = pydantic.constr(strict=True, min_length=1)
    Names = pydantic.conlist(Name, min_items=1)
    Share = pydantic.confloat(ge=0, le=1)
    Confidence = pydantic.confloat(gt=0, lt=1)
    Positives = pydantic.conlist(pydantic.confloat(gt=0, lt=math.inf), min_items=1)


def document(columns: dict[str, Any], *, k: int = 2, **sections: Any) -> dict[str, Any]:
    """Return the document of a policy with what every policy must have."""
    needs = {"name": "batch", "source": {"path": "batch"}, "anonymize": {"k": k}}
    return needs | {"columns": columns} | sections


def parsed(described: Mapping[str, Any]) -> Policy:
    """Return the policy of a document; Great Expectations makes each expectation anew several times.

    Raises:
        PolicyError: what the rules of a policy refuse.
    """
    return _parsed(json.dumps(described))


@lru_cache(maxsize=16)
def _parsed(text: str) -> Policy:
    return policy_from(json.loads(text))


def asked(given: Arguments, expectation: str) -> tuple[Layout, Demand]:
    """Return where a batch has what an expectation is about, and what it demands.

    Raises:
        InputError: the limits do not have this one, or it has another expectation.
        PolicyError: what the rules of a policy refuse.
    """
    if given["policy"] is not None:
        policy = parsed(given["policy"])
        found = {each.name: each for each in demands(policy) if each.limit.expectation_name == expectation}
        layout = _of_policy(given["policy"], policy)
        demand = _named(found, "limit_name", given["limit_name"], "the policy")
    elif given.get("attack") is not None:
        described = _attacked(given)
        policy = parsed(described)
        found = {each.name: each for each in demands(policy) if each.limit.attack}
        layout, demand = _of_policy(described, policy), _named(found, "attack", given["attack"], "attacks")
    else:
        layout, demand = _table(given), _wanted(given, expectation)
        parsed(layout.policy)
    return replace(layout, released=given["released"], hierarchies=given["hierarchies"]), demand


def _named(found: Mapping[str, Demand], argument: str, name: str | None, where: str) -> Demand:
    if name is None or name not in found:
        known = ", ".join(found) or "none"
        raise InputError(f"{argument} must be a limit in {where} ({known}), got {name}")
    return found[name]


def _of_policy(described: dict[str, Any], policy: Policy) -> Layout:
    """Return the layout of a `gate_batch`."""
    return Layout(described, {}, {name: f"{ORIGINAL}{name}" for name in policy.perturbed}, CLASS)


def _attacked(given: Arguments) -> dict[str, Any]:
    """Return the policy whose sections are arguments; what is not known is judged as it was realized."""
    stages = {"k": 2, "confidence": None, "gate": _REALIZED} | (given["stages"] or {})
    return document(
        dict.fromkeys(given["quasi_identifiers"], GENERALIZED) | given["columns"],
        k=stages["k"],
        suppress={"confidence": stages["confidence"]},
        gate={"attacks": given["attacks"]} | stages["gate"],
        perturb=given["perturb"],
    )


def _table(given: Arguments) -> Layout:
    """Return the layout of any table, with a policy whose columns have names that fit every policy."""
    groups = given.get("quasi_identifiers") or given.get("class_columns") or given.get("published_columns")
    if groups is None:
        groups = [given.get("class_column") or given["released"]]
    if given.get("class_columns") is not None:
        groups = groups[-1:]  # the release to be published
    names, originals = {f"group {i}": name for i, name in enumerate(groups)}, {}
    columns: dict[str, Any] = dict.fromkeys(names, GENERALIZED)
    if given.get("column") is not None:
        how = {name: given[name] for name in ("distance", "order", "hierarchy") if given[name] is not None}
        columns[_COLUMN], names[_COLUMN] = {"role": "sensitive", **how}, given["column"]
    sections: dict[str, Any] = {"gate": _REALIZED}
    for i, original in enumerate(given.get("original_columns") or ()):
        columns[f"noisy {i}"] = {"role": "perturb", "resolution": given["resolutions"][i]}
        names[f"noisy {i}"], originals[f"noisy {i}"] = given["released_columns"][i], original
        sections["perturb"] = {"epsilon": 1}  # plays no part where values are judged as they were released
        sections["suppress"] = {"confidence": given.get("confidence")}
    return Layout(document(columns, **sections), names, originals, given.get("class_column"))


def _wanted(given: Arguments, expectation: str) -> Demand:
    """Return the demand of the limit that has an expectation of this name, with the bound that is given."""
    (limit,) = (limit for limit in LIMITS if limit.expectation_name == expectation)
    if given.get("kind") is not None:
        return Demand(limit, _COLUMN, LDiversity(kind=given["kind"], l=given["l"], c=given["c"]))
    of = _COLUMN if given.get("column") is not None else given.get("risk") or ""
    return Demand(limit, of, next((given[name] for name in ("k", "t", "limit") if name in given), 0))
