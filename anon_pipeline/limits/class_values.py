"""Advice on what classes reveal about a column, exactly or nearly, whatever its role ([ADR 58])."""

from __future__ import annotations

from collections.abc import Iterator

from anon_pipeline.catalog.detectors.date_forms import holds_days
from anon_pipeline.catalog.detectors.name_hints import find_hint
from anon_pipeline.evidence import homogeneous_values
from anon_pipeline.evidence.coarse_values import holds_yes_or_no
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.records import KAnonymizedFacts

_ROUNDING = 1e-12  # of a share
_DIVERSE = (
    "set gate.l_diversity (kind: entropy) or gate.t_closeness of the column (of codes with distance: "
    "hierarchical, of numbers ordered and 0.3 or less), or take a larger k."
)
_OTHER_ROLE = (
    "if it is a secret, give it the role sensitive and set gate.l_diversity, or drop it; else release it "
    "coarser, or take a larger k."
)
_BEHIND = (
    "noise scaled to a class hides nothing if the class has one value: give the column the role sensitive "
    "and set gate.l_diversity, take a larger k, or drop it."
)


def _unchanged_demands(policy: Policy) -> Demanded:
    return {name: Advised(usual.HOMOGENEITY) for name in sorted(policy.unchanged)}


def _noisy(policy: Policy) -> Demanded:
    """Advise on columns whose noise shrinks with the class, and on drawn ones; a public scale does not."""
    scaled = {name for name, column in policy.perturbed.items() if column.sensitivity == "class"}
    return {name: Advised(usual.HOMOGENEITY) for name in sorted({*scaled, *policy.categorical})}


def _worded_demands(policy: Policy) -> Demanded:
    """Advise on the columns of texts whose values limits count or compare as they are written."""
    columns = {name: policy.sensitive[name] for name in policy.class_limited}
    numbers = {name for name, each in columns.items() if each.distance == "ordered" and each.order is None}
    return {name: Advised(0) for name in sorted(columns.keys() - numbers)}


def _judge_told_secrets(case: Case, demand: Demand) -> Verdict:
    """Name the columns whose roles seem to be swapped.

    Generalized ones that may be secrets and follow from the other ones; sensitive ones that attackers know,
    by their names or because they hold days, and that link more records than any column may that is known.
    """
    policy = case.policy
    told = [
        name
        for name in _may_be_secret(case)
        if homogeneous_values.told_by_others(case.evidence, policy, name) > usual.HOMOGENEITY
    ]
    lines = [f"revealed by the other quasi-identifiers: {', '.join(told)}"] if told else []
    linking = [name for name in _known_to_others(case) if _links(case, name)]
    if linking:
        lines.append(f"sensitive, but known to others, who can find people by it: {', '.join(linking)}")
    said = "; ".join(lines) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


def _may_be_secret(case: Case) -> Iterator[str]:
    """Yield the generalized columns named like secrets, and those of yes and no whose name says nothing."""
    for name in case.policy.generalized:
        hint = find_hint(name)
        if (hint is None and holds_yes_or_no(require_originals(case.evidence).frame, name)) or (
            hint is not None and hint.leads == "sensitive"
        ):
            yield name


def _judge_told_originals(case: Case, demand: Demand) -> Verdict:
    """Name the released columns that reveal the originals of other columns, as found by the recoding."""
    found = (case.facts or {}).get(KAnonymizedFacts.stage, {}).get("telling")
    if found is None:
        return Verdict(demand.name, Status.UNMEASURED, reason="needs the facts of the stages")
    noisy = case.policy.noisy
    said = "; ".join(
        f"{_subject_of(other)} {name}, "
        f"{'whose values noise hides' if name in noisy else 'which is generalized'}"
        for name, other in found.items()
    )
    return Verdict(demand.name, Status.REFUSED if said else Status.PASSED, reason=said or None)


def _subject_of(found: str | list[str]) -> str:
    """Say which released columns reveal another: one, or some together."""
    return f"{found} reveals" if isinstance(found, str) else f"{' + '.join(found)} together reveal"


def _known_to_others(case: Case) -> Iterator[str]:
    """Yield the sensitive columns that are quasi-identifiers by their names, or hold days."""
    for name in case.policy.sensitive:
        hint = find_hint(name)
        if (hint is not None and hint.leads == "quasi") or holds_days(case.evidence.released[name]):
            yield name


def _links(case: Case, name: str) -> bool:
    """Tell whether who knows a column links more than a known column may; not if the policy sees to that."""
    policy, bound = case.policy, usual.linking_bound(case.policy.gate_k)
    (demand,) = (one for one in KNOWN_COLUMNS.demands(policy) if one.wanted.columns == (name,))
    limited = demand.bound is not None and demand.bound <= bound  # beyond it the gate refuses
    return not limited and demand.value(case) > bound


NEAR_HOMOGENEITY = Limit(
    "near_homogeneity",
    Words(
        "At most this share of the {counted} is in classes where nearly all records share one value of {} "
        "(or nearly equal ones, codes that begin alike, or numbers of the table's highest or lowest fifth) "
        "that is rare outside the class.",
        advice=_DIVERSE,
        advice_for=lambda policy, of: _DIVERSE if of in policy.sensitive else _OTHER_ROLE,
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: homogeneous_values.near_homogeneity(case.evidence, demand.of),
        people=True,
        tolerance=_ROUNDING,
    ),
    demanded=_unchanged_demands,
    advisable=True,
)
HIDDEN_HOMOGENEITY = Limit(
    "hidden_homogeneity",
    Words(
        "At most this share of the {counted} is in classes whose original values of {} are nearly all equal "
        "and rare outside the class, although noise is added.",
        advice=_BEHIND,
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: homogeneous_values.hidden_homogeneity(
            case.evidence, case.policy, demand.of
        ),
        needs=("originals",),
        people=True,
        tolerance=_ROUNDING,
    ),
    demanded=_noisy,
    advisable=True,
)
SPELLINGS = Limit(
    "spellings",
    Words(
        "No value of {} is another spelling of a value (case, blanks, accents, punctuation): l-diversity "
        "and t-closeness take them for different ones. Only advice.",
        advice="write each word in one way: clean does that (case, strip, unicode, values).",
        question="inference",
    ),
    Judged(measure=lambda case, demand: homogeneous_values.spellings(case.evidence, demand.of)),
    demanded=_worded_demands,
    advisable=True,
)
TOLD_SECRETS = Limit(
    "told_secrets",
    Words(
        "No roles seem to be swapped. A quasi-identifier that may be a secret must not follow from the other "
        "quasi-identifiers, because limits on classes do not protect it: one named like an illness, an "
        "income or a belief, or one of yes and no whose name says nothing. A sensitive column that others "
        "can know (by its name, or because it holds days) must not link people, because limits on linking "
        "do not count it. Only advice.",
        advice="give a secret the role sensitive, so that limits on classes hold for it. Give what others "
        "know the role generalize; or leave it sensitive, and let no more be linked by it than by an "
        "insensitive column (gate.attacks.known_columns).",
        question="inference",
    ),
    Judged(judge=_judge_told_secrets, needs=("originals",)),
    demanded=lambda policy: {"": Advised(None)},
    always=True,
    advisable=True,
    expectation="",
    published=Published(valued=False),
)
TOLD_ORIGINALS = Limit(
    "told_originals",
    Words(
        "No column released without noise reveals more of another column than its generalized or noisy "
        "values do, as a copy in another unit or code, or a finer band, would. Only advice.",
        advice="drop the revealing column (role: identifier), give both the same role, or release it coarser "
        "(round, top, bottom, level).",
        question="linkability",
    ),
    Judged(judge=_judge_told_originals, bound=lambda wanted: None, needs=("originals",)),
    demanded=lambda policy: {"": Advised(None)} if policy.unchanged else {},
    advisable=True,
    expectation="",
    published=Published(valued=False),
)
