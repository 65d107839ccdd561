"""What an expectation asks by its arguments: the layout of the batch, and the demand that it must keep.

Arguments are a policy and the name of one of its limits; of k, t, l and suppression also columns and a bound.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from great_expectations.compatibility import pydantic

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import GIVEN
from anon_pipeline.gate.great_expectations.cases import Layout
from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.policy.hierarchies import ALL_OR_NOTHING
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.recoding import LDiversity

Arguments = Mapping[str, Any]
"""The arguments of an expectation by name, as JSON types; None where one is not given."""

GENERALIZED: dict[str, Any] = {"role": "generalize", "hierarchy": ALL_OR_NOTHING}
"""How a column was generalized plays no part in a batch: its values are there."""

_ATTACK = {"attack", "attacks", "quasi_identifiers", "columns"}
_HOW = ("distance", "order", "hierarchy")
_REALIZED = {"linking": "realized"}

if TYPE_CHECKING:
    Count = int
    Name = str
    Names = list[str]
    Share = float
else:
    Count = pydantic.conint(strict=True, ge=1, lt=2**63)  # strict: 4.7 must not become a limit of 4
    Name = pydantic.constr(strict=True, min_length=1)
    Names = pydantic.conlist(Name, min_items=1)
    Share = pydantic.confloat(ge=0, le=1)


def document(
    columns: dict[str, Any], *, k: int = 2, recoder: str | None = None, **sections: Any
) -> dict[str, Any]:
    """Return the document of a policy with what every policy must have.

    Args:
        recoder: None where it plays no part.
    """
    recoded: dict[str, Any] = {"k": k} if recoder is None else {"k": k, "recoder": recoder}
    if recoder is not None and "classes" in recoder_of(recoder).options:
        recoded["classes"] = GIVEN  # their column is in no table that is judged
    needs = {"name": "batch", "source": {"path": "batch"}, "anonymize": recoded}
    return needs | {"columns": columns} | sections


@lru_cache(maxsize=16)
def _demands_of(text: str) -> dict[str, Demand]:
    """Return what a policy demands, by name; Great Expectations makes each expectation anew several times."""
    return {demand.name: demand for demand in demands(policy_from(json.loads(text)))}


def demand_of(given: Arguments, expectation: str) -> tuple[Layout, Demand]:
    """Return where a batch has what an expectation is about, and what it demands.

    Raises:
        InputError: the policy does not have this limit, or it has another expectation.
        PolicyError: what the rules of a policy refuse.
    """
    described, columns = (given["policy"], {}) if given["policy"] is not None else _of_table(given)
    layout = Layout(described, columns, given["released"], given["hierarchies"])
    found = _demands_of(json.dumps(described))
    if columns:
        return layout, _find_demand(given, expectation)
    names = [name for name, demand in found.items() if demand.limit.expectation_name == expectation]
    if given["limit_name"] not in names:
        known = ", ".join(names) or "none"
        raise InputError(f"limit_name must be a limit in the policy ({known}), got {given['limit_name']}")
    return layout, found[given["limit_name"]]


def _of_table(given: Arguments) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a policy on the columns of any table, and where the table has them.

    The policy's names of the columns fit every policy, and one column may have two parts.
    """
    groups = given.get("quasi_identifiers") or [given["released"]]
    names = {f"quasi-identifier {name}": name for name in groups}
    columns: dict[str, Any] = dict.fromkeys(names, GENERALIZED)
    if (name := given.get("column")) is not None:
        how = {key: given[key] for key in _HOW if given[key] is not None}
        columns[_sensitive(name)], names[_sensitive(name)] = {"role": "sensitive", **how}, name
    return document(columns), names


def _sensitive(name: str) -> str:
    return f"column {name}"


def _find_demand(given: Arguments, expectation: str) -> Demand:
    """Return the demand of the limit that has an expectation of this name, with the bound that is given."""
    (limit,) = (limit for limit in LIMITS if limit.expectation_name == expectation)
    of = "" if given.get("column") is None else _sensitive(given["column"])
    if given.get("kind") is not None:
        return Demand(limit, of, LDiversity(kind=given["kind"], l=given["l"], c=given["c"]))
    return Demand(limit, of, next(given[name] for name in ("k", "t", "limit") if name in given))


def renew(given: Arguments, expectation: str, unknown: list[str]) -> dict[str, Any]:
    """Return the arguments of today for those that a suite was stored with.

    Args:
        unknown: names of arguments that the expectation no longer has.
    Raises:
        ValueError: there is no policy, and none can be made of the arguments.
    """
    now = {name: value for name, value in given.items() if name not in unknown}
    rule = f"{', '.join(unknown)}: must be left out of {expectation}, which takes policy and limit_name"
    if now.get("policy") is None:
        if not set(unknown) >= _ATTACK:
            raise ValueError(f"{rule}. Make its suite with suite_for(policy), and the batch with gate_batch.")
        now |= {"policy": _attack_policy(given), "limit_name": given["attack"]}
    warnings.warn(f"{rule}: see suite_for", DeprecationWarning, stacklevel=2)
    return now


def _attack_policy(given: Arguments) -> dict[str, Any]:
    """Return the policy whose sections were arguments; what is not known is judged as it was realized."""
    stages = {"k": 2, "confidence": None, "gate": _REALIZED} | (given.get("stages") or {})
    return document(
        dict.fromkeys(given["quasi_identifiers"], GENERALIZED) | given["columns"],
        k=stages["k"],
        suppress={"confidence": stages["confidence"]},
        gate={"attacks": given["attacks"]} | stages["gate"],
        perturb=given.get("perturb"),
    )
