"""What columns with noise let be linked, numbers and drawn categories, in sentences of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anon_pipeline.base.shares import percent
from anon_pipeline.gate import GateReport
from anon_pipeline.limits.known_columns import name_of
from anon_pipeline.limits.linking import KNOWS_EXACT
from anon_pipeline.limits.table import demands, limit_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.attacks import Attack, is_limited

_SIMULATED = " The attackers are simulated; one who uses all that he knows of the method may get more right."


def linked_sentence(policy: Policy, gate: GateReport, found: Sequence[Attack]) -> str:
    """Say how often an attacker picks the right record who knows the originals of the noisy numbers."""
    exact = f"the exact {', '.join(policy.perturbed)}"
    linked = by_linking(found)
    if not is_limited(policy, gate) or not any(one.is_limited for one in linked):
        free = "no limit says how often he picks the right record, and the risk may be larger than that"
        return f"For an attacker who also knows {exact}, {free}."
    most = max((one for one in linked if one.is_limited), key=by_share)
    free = ", ".join(str(one.limit) for one in linked if not one.is_limited)
    more = f" No limit is set on the attack {free}, which may get more right." if free else ""
    return (
        f"An attacker who also knows {exact} {most.success} on average ({most.limit}, "
        f"{percent(most.share)} of the {most.noun}), but more in some classes.{more}"
        + (_SIMULATED if policy.whole_columns else "")
    )


def by_linking(found: Sequence[Attack]) -> list[Attack]:
    """Return the attacks by limits on linking by what the noise hides."""
    return [one for one in _linking_attacks(found) if not limit_of(str(one.limit)).published.banded]


def by_values(found: Sequence[Attack]) -> Attack | None:
    """Return the worst attacker who knows values that are released as they are, too; None: nobody.

    Of equal ones it is that beyond an advised bound.
    """
    banded = (one for one in _linking_attacks(found) if limit_of(str(one.limit)).published.banded)
    return max(banded, key=lambda one: (one.share, one.least, one.advised is not None), default=None)


def _linking_attacks(found: Sequence[Attack]) -> list[Attack]:
    return [one for one in found if one.limit and limit_of(one.limit).words.question == "linkability"]


def by_share(attack: Attack) -> float:
    """Return what the worst attacker is found by."""
    return attack.share


def links_by_noise(policy: Policy, attack: Attack) -> str:
    """Say what share is linked by the originals of noisy numbers; the attacker's other knowledge with it."""
    own = attack.knows == KNOWS_EXACT
    knows = f"a person's class and exact {' and '.join(policy.perturbed)}" if own else attack.knows
    return f"Yes. An attacker who knows {knows} links {attack.portion} on average"


def links_also(policy: Policy, attack: Attack) -> str:
    """Say what share is linked by whoever knows values that are released as they are, or drawn, too."""
    found = (demand.wanted.columns for demand in demands(policy) if demand.name == attack.limit)
    columns = next(found, [str(attack.limit).partition(".")[2]])
    return f"One who also knows {' and '.join(columns)} links {attack.portion}"


def noisy_lines(policy: Policy, gate: GateReport, found: Sequence[Attack]) -> Iterator[str]:
    """Yield what each column with noise means for picking somebody out: numbers together, categories each."""
    if policy.perturbed:
        said = " ".join(_numbers_sentences(policy))
        yield f"{said} {linked_sentence(policy, gate, found)}"
    for name in policy.categorical:
        simulated = _SIMULATED if name in policy.changed_categories else ""
        linked = _found_by(found, [name], "the original value")
        yield f"{_category_sentence(policy, name)} {linked}{simulated}"
    if len(policy.categorical) > 1:
        names = sorted(policy.categorical)
        yield _found_by(found, names, f"the original values of {' and '.join(names)} together")


def _category_sentence(policy: Policy, name: str) -> str:
    """Say what happened to a column of categories."""
    if name in policy.changed_categories:
        return _changed_sentence([name])
    return f"{name} is drawn: a released value may be anybody's of the class."


def _changed_sentence(names: Sequence[str]) -> str:
    """Say what may be learned of columns that are changed as a whole."""
    are = "is" if len(names) == 1 else "are"
    return (
        f"{', '.join(names)} {are} changed by a method that promises nothing: a released "
        "value may be near the person's own, or tell it."
    )


def _numbers_sentences(policy: Policy) -> Iterator[str]:
    """Yield what noise hides of the numbers, and what changes hide that promise nothing."""
    noisy = [name for name in policy.perturbed if name not in policy.whole_columns]
    if noisy:
        have = "has" if len(noisy) == 1 else "have"
        yield f"{', '.join(noisy)} {have} noise: a released value may be anybody's of the class."
    if policy.whole_columns:
        yield _changed_sentence(policy.whole_columns)


def _found_by(found: Sequence[Attack], names: Sequence[str], known: str) -> str:
    """Say how often he picks the right record who also knows the originals of these categories."""
    banded = [one for one in found if one.limit and limit_of(one.limit).published.banded]
    linked = next((one for one in banded if str(one.limit).partition(".")[2] == name_of(names)), None)
    if linked is None or not linked.is_limited:
        return f"For an attacker who also knows {known}, no limit says how often he picks the right record."
    return f"An attacker who also knows {known} {linked.success} on average ({linked.limit})."
