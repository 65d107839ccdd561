"""The rules of manifest version 1, by which the releases of 0.1.0 verify: kept as they were.

Its keys, its facts, its words for the guarantee and its digests of a policy do not follow what is written
today. Of its manifests everything is demanded that 0.1.0 always wrote; where another state is named that made
one, the report and the types of a CSV may lack, and words and facts are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.gate import limits_of
from anon_pipeline.limits.contradiction import contradiction
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.version_1 import digest_1, making_1
from anon_pipeline.publish.manifest.shape import (
    FILE,
    GATE,
    TOP,
    VERDICT,
    Each,
    Shape,
    is_version,
    misfits,
    strange_leaves,
)
from anon_pipeline.publish.verify.balance import broken_seen, broken_told_1
from anon_pipeline.publish.verify.versions import Rules
from anon_pipeline.publish.version_1.guarantee_v1 import guarantee
from anon_pipeline.stages.facts.check_1 import FIELDS_1, broken_facts_1, decided_1
from anon_pipeline.stages.facts.fact_rules import is_digest
from anon_pipeline.stages.facts.kinds import broken_kinds
from anon_pipeline.stages.facts.origin import hierarchy_digests
from anon_pipeline.stages.facts.records import Facts

_RELEASED = "0.1.0"
_PACKAGES = (
    *("python", "anon-pipeline", "dagster", "great-expectations", "numba", "numpy", "pandas", "pandera"),
    "pyarrow",
)
_LIMITS = (
    *("contract", "origin", "k", "t_closeness", "l_diversity", "linking_risk", "suppression", "confidence_k"),
    *("attacker_success", "assignment_risk", "expected_linking_risk", "averaging", "linkage", "homogeneity"),
    *("skewness", "similarity", "prosecutor_risk", "marketer_risk", "sample_uniques", "minimal_uniques"),
    *("population", "cross_release_k", "sticky"),
)
_BY_DEFAULT = ("linking_risk", "homogeneity")  # limits that every later version demands of some policies
_VERDICT: Mapping[str, Shape] = {
    **{name: VERDICT[name] for name in ("limit", "value", "bound", "sense", "reason")},
    "status": lambda value: value == "passed",
}
_FILE: Mapping[str, Shape] = {
    **{name: FILE[name] for name in ("name", "sha256", "size", "records")},
    "types?": FILE["types"],
}
_KEYS = (
    *("release", "partition", "made_at", "policy_digest", "data_digest", "epsilon"),
    *("guarantee", "signature?"),
)

_TOP: Mapping[str, Shape] = {
    **{name: TOP[name] for name in _KEYS},
    "manifest_version": lambda value: type(value) is int and value == 1,
    "files": Each(_FILE),
    "hierarchies": Each(is_digest, named=True),
    "gate": {
        **{name: GATE[name] for name in GATE if name != "verdicts"},
        "population_digest?": is_digest,
        "verdicts": Each(_VERDICT),
    },
    "facts": lambda value: True,
    "packages": Each(is_version, named=True),
    "report?": TOP["report"],
}
_ALWAYS: Mapping[str, Shape] = {"packages": dict.fromkeys(_PACKAGES, is_version), "report": TOP["report"]}


def _shape(document: Mapping[str, Any]) -> list[str]:
    """List the places that are not as 0.1.0 wrote them; no other version has written such manifests."""
    top = {**_TOP, **_ALWAYS}
    facts = broken_kinds(document.get("facts"), FIELDS_1)
    other = [] if _is_worded(document) else ["packages.anon-pipeline"]
    return [*strange_leaves(document), *misfits(document, top), *facts, *_types(document), *other]


def _types(document: Mapping[str, Any]) -> list[str]:
    """Say whether types are named of anything but a CSV, or not of one."""
    named = [(item["name"].endswith(".csv"), "types" in item) for item in document["files"]]
    return [] if all(csv == typed for csv, typed in named) else ["files[].types"]


def _is_worded(document: Mapping[str, Any]) -> bool:
    packages = document.get("packages")
    return isinstance(packages, dict) and packages.get("anon-pipeline") == _RELEASED


def _limits(policy: Policy) -> list[str]:
    """Name the limits of a policy that 0.1.0 knew: those that it sets itself, in its order."""
    gate = policy.gate
    own = {
        "linking_risk": [] if gate.linking_risk is None else ["linking_risk"],
        "homogeneity": [f"homogeneity.{name}" for name in gate.attacks.homogeneity],
    }
    found: list[str] = []
    for name in limits_of(policy):
        kind = name.partition(".")[0]
        if kind in _LIMITS:
            found += own.pop(kind, []) if kind in _BY_DEFAULT else [name]
    return found


def _origin(policy: Policy, facts: Facts, folder: Path) -> list[str]:
    """List what speaks against the facts being made by this policy, from the system's entropy."""
    problems, making = [], making_1(policy)
    others = [stage for stage in FIELDS_1 if facts[stage].get("made_by") != making]
    if others:
        problems.append(f"made by another policy than this one: {', '.join(others)}")
    if facts["k_anonymized"].get("hierarchies") != hierarchy_digests(policy, folder):
        problems.append("a hierarchy table has changed since k_anonymized was made")
    if any(facts[stage].get("seeded") is not False for stage in ("perturbed", "shuffled")):
        problems.append("made with a seed: whoever knows it can undo the noise")
    return problems


_PATTERNS = (
    re.compile(r"(?<![\w.%+'-])[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+"),
    re.compile(r"(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])"),
    re.compile(
        r"""(?<![\w+-])(?:
            \+(?!\d+\.\d{1,5}(?![\d(/-]|[ .]\d))  # international, but not +1000000.50
                \d(?:[ .()/-]{0,2}\d){6,14}
            |(?:1[ .-]?)?\(\d{3}\)[ -]?\d{3}[ .-]\d{4}
            |(?:1[ .-])?\d{3}([ .-])\d{3}\1\d{4}
        )(?=x\d|(?![\w-]))""",
        re.VERBOSE,
    ),
)
"""By these 0.1.0 looked for e-mail addresses, social security numbers and telephone numbers."""


def _holds_identifiers(column: pd.Series) -> bool:
    """Tell whether a column of texts holds an identifier; other columns hold none."""
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return False
    texts = column.dropna().astype("str").unique()
    return any(pattern.search(text) for pattern in _PATTERNS for text in texts)


_IDENTIFIER = re.compile(r"(?P<column>.+): must (?:not hold|hold no) ", re.DOTALL)


def _would_refuse(frame: Table, line: str) -> bool:
    """Tell whether 0.1.0 would have refused a column for holding identifiers; it looked for fewer kinds."""
    named = _IDENTIFIER.match(line)
    if named is None or named["column"] not in frame:
        return True
    return _holds_identifiers(frame[named["column"]])


RULES_1 = Rules(
    version=1,
    shape=_shape,
    digest=digest_1,
    guarantee=guarantee,
    limits=_limits,
    facts=lambda policy, facts: broken_facts_1(policy, facts, making=making_1(policy)),
    origin=_origin,
    decided=decided_1,
    always=_LIMITS[:3],
    told=broken_told_1,
    seen=broken_seen,
    verdict=contradiction,
    names_tables=True,
    asked=_would_refuse,
    worded=_is_worded,
)
