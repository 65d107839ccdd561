"""The limit on attackers who also know values that are released as they are: bounds, defaults, bands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import yaml

from anon_pipeline.evidence.expectation import Expectation
from anon_pipeline.evidence.known_attack import KnownAttack
from anon_pipeline.evidence.known_categories import (
    expected_of_category,
    foreseen_of_category,
    realized_of_category,
)
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit, judges_expectation, unit_of
from anon_pipeline.limits.traits import Judged, Published, Words
from anon_pipeline.policy.attacks import KnownColumns
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged


def name_of(columns: Sequence[str]) -> str:
    """Name a set of columns in verdicts; different sets have different names.

    >>> name_of(["charges"]), name_of(["job", "a + b"])
    ('charges', 'job + "a + b"')
    """
    return " + ".join(json.dumps(name) if {"+", '"'} & {*name} else name for name in columns)


def usual_columns(policy: Policy) -> dict[frozenset[str], float]:
    """Return the sets of known columns that have a bound without the policy's saying so, and the bound.

    All perturbed categories together, and these with all unchanged columns, also where that is a single one
    with noisy columns: an attacker who links it learns the noisy values.
    """
    drawn, unchanged = list(policy.categorical), policy.unchanged
    together = [drawn] if len(drawn) > 1 else []
    if len(unchanged) > 1 or (unchanged and policy.noisy):
        together.append([*unchanged, *drawn])
    known = [*([name] for name in (*policy.insensitive, *drawn)), *together]
    return dict.fromkeys(map(frozenset, known), usual.linking_bound(policy.gate_k))


def _demands(policy: Policy) -> Demanded:
    """Return the policy's own bounds, and those that hold without: of each column, of all together.

    Of perturbed categories the original is known, and the released value seen: as that of noisy numbers,
    which every attacker knows. With all columns that are released as they are, and with a sensitive one that
    is all of them, it is advice.

    Names do not depend on the order of columns, which stored suites of Great Expectations lose.
    """
    bounds = usual_columns(policy)
    own = {frozenset(entry.columns): entry for entry in policy.gate.attacks.known_columns}
    names = [frozenset([name]) for name in sorted(policy.unchanged)]
    found: dict[frozenset[str], KnownColumns | Advised] = {}
    for known in (*names, *(known for known in bounds if known not in names)):
        wanted = KnownColumns(columns=tuple(sorted(known)), risk=bounds.get(known, 1.0))
        together = len(known) > 1 and not known <= policy.categorical.keys()
        advised = together or (known in bounds and known <= policy.sensitive.keys())
        found[known] = Advised(wanted) if advised else wanted
    found |= own
    return {name_of(sorted(known)): wanted for known, wanted in found.items()}


def _drawn_alone(policy: Policy, demand: Demand) -> str | None:
    """Return the column of categories that is all that is drawn, and known; None where there is more."""
    known = demand.wanted.columns
    drawn = policy.drawn_categories
    return known[0] if len(known) == 1 and known[0] in drawn and not policy.perturbed else None


def _before_drawing(demand: Demand, policy: Policy, recoded: Staged) -> str | None:
    """Say that the gate will refuse drawn categories, whatever is drawn: by class, original and law.

    Where a policy judges what was drawn (`linking: realized`), nothing is known yet. A category that is
    known with other drawn values is linked no less than alone, if the draw does not decide who is released.

    Args:
        recoded: the stage `k_anonymized`.
    """
    if not judges_expectation(policy):
        return None
    drawn = [name for name in demand.wanted.columns if name in policy.drawn_categories]
    known = drawn if _drawn_alone(policy, demand) or _released_anyhow(policy) else []
    foreseen = [foreseen_of_category(recoded.frame, policy, name) for name in known]
    if not foreseen or demand.compare(max(foreseen)).status.publishable:
        return None
    return (
        f"{demand.name}: at most {demand.bound:.3g} of the {unit_of(policy)} may be linked by an attacker "
        f"who knows {', '.join(drawn)} and the class, on average over the noise. Next: {_SMALLER}"
        f"{_looser(sorted(demand.wanted.columns))}"
    )


def _released_anyhow(policy: Policy) -> bool:
    """Tell whether all records in classes are released, whatever is drawn, and are what is counted."""
    confident = policy.suppress.confidence is None or not policy.perturbed
    return policy.person is None and confident and not policy.class_limited


def _over_noise(case: Case, demand: Demand) -> Expectation:
    drawn = _drawn_alone(case.policy, demand)
    if drawn is not None:
        return expected_of_category(case.evidence, case.policy, drawn)
    attack: KnownAttack = case.known_attack
    return attack.over_noise(demand.wanted.columns)


def _known_columns_share(case: Case, demand: Demand) -> float:
    drawn = _drawn_alone(case.policy, demand)
    if drawn is not None:
        return realized_of_category(case.evidence, case.policy, drawn)
    attack: KnownAttack = case.known_attack
    return attack.realized_share(case.evidence, case.policy, demand.wanted.columns)


_COARSE = (
    "release the column coarser (round, top, bottom, level) or drop it; generalize it if others can know "
    "its values; "
)
_COARSER = (
    f"{_COARSE}give it the role sensitive, with limits on classes, only if it is a secret that nobody can "
    "know; "
)
_SMALLER = "take a smaller ε, so that fewer categories stay as they are, generalize or drop it, "
_OTHERWISE = "take a larger k, or another mechanism, generalize or drop it, "


def _looser(columns: Sequence[str]) -> str:
    """Say how the policy accepts a looser bound for a set of columns."""
    listed = ", ".join(_in_yaml(name) for name in columns)
    return (
        "or accept a looser bound for it, SHARE: "
        f"gate.attacks.known_columns: [{{columns: [{listed}], risk: SHARE}}]."
    )


def _in_yaml(name: str) -> str:
    """Write a column's name as an item of a list in YAML.

    >>> _in_yaml("Costs (EUR)"), _in_yaml("a, b"), _in_yaml("no")
    ('Costs (EUR)', '"a, b"', '"no"')
    """
    is_plain = re.fullmatch(r"\w[\w ()./-]*", name) and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _advice(policy: Policy, of: str) -> str:
    """Say what to change for a set of columns; only of drawn categories does ε decide."""
    columns = _columns_by_name(policy).get(of, [of])
    return f"{_changes(policy, of)}{_looser(columns)}"


def _changes(policy: Policy, of: str) -> str:
    perturbed = sorted(policy.categorical)
    if of not in {name_of(perturbed), *(name_of([name]) for name in perturbed)}:
        return _COARSE if of in _names_of_secrets(policy) else _COARSER
    changed = {name_of([name]) for name in policy.changed_categories}
    return _OTHERWISE if of in changed or not policy.drawn_categories else _SMALLER


def _columns_by_name(policy: Policy) -> dict[str, list[str]]:
    """Return the sets of columns that are judged, by the names of their verdicts."""
    own = (entry.columns for entry in policy.gate.attacks.known_columns)
    known = [*usual_columns(policy), *([name] for name in policy.unchanged), *own]
    return {name_of(sorted(columns)): sorted(columns) for columns in known}


def _names_of_secrets(policy: Policy) -> set[str]:
    """Return the names of the known sets of which every column is sensitive already."""
    return {name for name, columns in _columns_by_name(policy).items() if {*columns} <= {*policy.sensitive}}


KNOWN_COLUMNS = Limit(
    "known_columns",
    Words(
        "An attacker who also knows the values of {} correctly links at most this share of the records.",
        of_people="An attacker who also knows the values of {} correctly links a record of at most this "
        "share of the people.",
        advice=f"{_COARSER}{_looser(['A', 'B'])}",
        advice_for=_advice,
        question="linkability",
        knows="the generalized values, the exact values before noise, and {}",
        knows_plain="the generalized values, and {}",
    ),
    Judged(
        measure=_known_columns_share,
        bound=lambda wanted: wanted.risk,
        needs=("originals",),
        people=True,
        over_noise=_over_noise,
        before_drawing=_before_drawing,
    ),
    demanded=_demands,
    attack=True,
    advisable=True,
    published=Published(banded=True),
)
