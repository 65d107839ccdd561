"""Advice on secrets that columns reveal only together, which limits on single columns do not see.

Decision: docs/adr/0068-green-is-harder-to-reach-by-mistake.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anon_pipeline.evidence.joint_homogeneity import (
    alike_columns,
    joint_homogeneity,
    paired_homogeneity,
    union_homogeneity,
)
from anon_pipeline.evidence.list_cells import list_cells
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy

_ROUNDING = 1e-12  # of a share


def _beside_insensitive(policy: Policy) -> Demanded:
    """Advise on sensitive columns, if there are insensitive ones."""
    names = sorted(policy.sensitive) if policy.insensitive else ()
    return {name: Advised(usual.HOMOGENEITY) for name in names}


def _texts(policy: Policy) -> list[str]:
    """Name the sensitive columns that may hold texts: numbers are looked at when they are measured."""
    return sorted(name for name, column in policy.sensitive.items() if column.distance != "ordered")


def _judge_joint(case: Case, demand: Demand) -> Verdict:
    others = sorted(case.policy.insensitive)
    found = joint_homogeneity(case.evidence, demand.of, others)
    if max(found.values(), default=0.0) <= demand.wanted:
        found |= paired_homogeneity(case.evidence, demand.of, others)
    return _largest(demand, found, "revealed by")


def _judge_union(case: Case, demand: Demand) -> Verdict:
    sets = alike_columns(case.evidence, _texts(case.policy))
    shares = {" + ".join(names): union_homogeneity(case.evidence, names) for names in sets}
    return _largest(demand, shares, "one secret in")


def _largest(demand: Demand, shares: Mapping[str, float], said: str) -> Verdict:
    """Judge the largest share, and name the columns of all that are too large."""
    found = demand.compare(max(shares.values(), default=0.0))
    if found.status is Status.PASSED:
        return found
    names = [name for name, share in shares.items() if share > demand.wanted]
    return replace(found, reason=f"{said} {', '.join(names)}")


JOINT_HOMOGENEITY = Limit(
    "joint_homogeneity",
    Words(
        "At most this share of the {counted} has a value of {} that one or two insensitive columns make "
        "nearly certain, alone or together with the class. Values that the class alone makes nearly certain "
        "are not counted, nor is what happens by chance. Only advice.",
        advice="give the insensitive column that is named the role generalize (or sensitive, if nobody can "
        "know it), release it coarser, or drop it.",
        question="inference",
    ),
    Judged(judge=_judge_joint, people=True, tolerance=_ROUNDING),
    demanded=_beside_insensitive,
    advisable=True,
)
UNION_HOMOGENEITY = Limit(
    "union_homogeneity",
    Words(
        "At most this share of the {counted} is in classes where nearly all have the same value in one or "
        "another of several sensitive columns that hold the same values, such as main and secondary "
        "diagnosis; not counting what happens by chance. Only advice.",
        advice="derive one column for each secret (hiv: yes/no) and set gate.l_diversity or gate.t_closeness "
        "of it, or take a larger k: limits on classes look at each column alone.",
        question="inference",
    ),
    Judged(judge=_judge_union, people=True, tolerance=_ROUNDING),
    demanded=lambda policy: {"": Advised(usual.HOMOGENEITY)} if len(_texts(policy)) > 1 else {},
    advisable=True,
)
LIST_CELLS = Limit(
    "list_cells",
    Words(
        "At most this share of the records has a cell of {} that lists several values (flu; hiv): limits on "
        "classes take each list for a value of its own. Only advice.",
        advice="split the cells before the release: one record for each value, or one column for each "
        "secret (hiv: yes/no).",
        question="inference",
    ),
    Judged(measure=lambda case, demand: list_cells(case.evidence, demand.of)),
    demanded=lambda policy: {name: Advised(usual.LISTS) for name in _texts(policy)},
    advisable=True,
)
