"""Limits that every release has on columns that an author mislabels: as harmless, or as quasi-identifiers."""

from __future__ import annotations

from dataclasses import replace

from anon_pipeline.base.packed_tables import counted_cells
from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.evidence.identifying_columns import identifying_columns
from anon_pipeline.evidence.listing_labels import labeled_columns
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.rare_values import rare_texts, rare_together, rare_values
from anon_pipeline.evidence.released_columns import doubtful_columns, shown_columns
from anon_pipeline.hierarchy import TOP
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import LARGEST_SET
from anon_pipeline.stages.facts.records import DeidentifiedFacts


def _judge_released_identifiers(case: Case, demand: Demand) -> Verdict:
    frame, stages = require_originals(case.evidence).frame, case.facts or {}
    seen = stages.get(DeidentifiedFacts.stage, {})
    following, holding = seen.get("following", ()), seen.get("holding", {})
    found = identifying_columns(frame, case.policy, today=case.today, following=following, holding=holding)
    said = "; ".join(found) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


def _named_people(case: Case, demand: Demand) -> Verdict:
    """Say which columns may name a few people, by what their names and their hierarchies' labels say."""
    frame, stages = require_originals(case.evidence).frame, case.facts or {}
    doubtful = ", ".join(doubtful_columns(frame, case.policy))
    listing = ", ".join(stages.get(DeidentifiedFacts.stage, {}).get("listing", ()))
    lines = []
    if doubtful:
        lines.append(
            f"{doubtful}: its name says that it identifies people; its few values may belong to real people"
        )
    if listing:
        lines.append(
            f"{listing}: its hierarchy has labels that spell out values which fewer than "
            f"{case.policy.gate_k} records have, so they reveal who is in the group"
        )
    said = "; ".join(lines) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


def _may_name(policy: Policy) -> Demanded:
    """Demand it where a released column's name says that it identifies people, or a hierarchy has labels."""
    says = any(telling_name(name) for name in shown_columns(policy))
    return {"": Advised(None)} if says or any(labeled_columns(policy)) else {}


def _rare_together(policy: Policy) -> Demanded:
    """Demand it where there are more insensitive columns than `released_identifiers` looks at together."""
    return {"": Advised(usual.RARE_TOGETHER)} if len(policy.insensitive) > LARGEST_SET else {}


def _judge_single_values(case: Case, demand: Demand) -> Verdict:
    """Count and name the columns with one value in all records; see `_has_single_value`."""
    policy = case.policy
    names = dict.fromkeys((*policy.generalized, *policy.noisy, *policy.insensitive))
    found = [name for name in names if _has_single_value(case, name)]
    said = demand.compare(len(found))
    return replace(said, reason=f"one value in every record: {', '.join(found)}") if found else said


def _has_single_value(case: Case, name: str) -> bool:
    """Tell whether a column has one value in all records that is not the highest level."""
    values = counted_cells(case.evidence.released, name)[0].unique()
    return len(values) == 1 and bool(values[0] != TOP)


def _rare(policy: Policy) -> Demanded:
    """Advise on insensitive columns, and on drawn ones that mostly stay as they are."""
    shown = (name for name in shown_columns(policy) if name not in policy.sensitive)
    return {name: Advised(0) for name in sorted(shown)}


def _texts(policy: Policy) -> Demanded:
    """Advise on sensitive columns of texts without an order; numbers are looked at when they are measured."""
    named = (name for name, column in policy.sensitive.items() if column.distance != "ordered")
    return {name: Advised(usual.RARE_TEXTS) for name in sorted(named)}


RELEASED_IDENTIFIERS = Limit(
    "released_identifiers",
    Words(
        "No column released with little or no noise identifies people: not by its values, not by its name, "
        "and not by following a person across records. No two or three insensitive columns together single "
        "people out. Exceptions must be acknowledged in the policy.",
        advice="release the column coarser (round, top, bottom, level), drop it, or acknowledge it by name.",
    ),
    Judged(judge=_judge_released_identifiers, needs=("originals",)),
    demanded=lambda policy: {"": None},
    expectation="",
    always=True,
    published=Published(valued=False),
    forecast=Forecast(certain=True),
)
SINGLE_VALUE = Limit(
    "single_value",
    Words(
        "No quasi-identifier or insensitive column has a single value in the input, or a single coarser one "
        "in the release: it says nothing of anybody, and protects nobody. Those that are hidden (*) are "
        "counted by utility_fully_generalized. Only advice.",
        advice="generalize or round a column less that has several values, or drop this one (role: "
        "identifier, action: drop).",
    ),
    Judged(judge=_judge_single_values),
    demanded=lambda policy: {"": Advised(0)},
    always=True,
    advisable=True,
)
NAMED_PEOPLE = Limit(
    "named_people",
    Words(
        "No released column has a name that says that it identifies a few people, and no label of a "
        "hierarchy lists values that only few records have. Only advice.",
        advice="drop a column that names people (role: identifier), rename a column that does not name "
        "people; give groups labels that do not list their members.",
        question="singling out",
    ),
    Judged(judge=_named_people, bound=lambda wanted: None, needs=("originals",)),
    demanded=_may_name,
    expectation="",
    advisable=True,
    published=Published(valued=False),
)
RARE_TOGETHER = Limit(
    "rare_together",
    Words(
        "At most this share of the records has a combination of values of all insensitive columns that fewer "
        "than {k} {counted} share: an attacker who knows these values can find the few records. Only advice.",
        advice="release fewer of these columns, or coarser ones (round, top, bottom, level): count flags.",
        question="singling out",
    ),
    Judged(
        measure=lambda case, demand: rare_together(
            case.evidence, sorted(case.policy.insensitive), k=case.policy.gate_k
        ),
        people=True,
    ),
    demanded=_rare_together,
    advisable=True,
)
RARE_VALUES = Limit(
    "rare_values",
    Words(
        "No record has a value of {} that fewer than {k} {counted} share: it points to a few. Only advice.",
        advice="release the column coarser (round, top, bottom, level): rare values are then in larger "
        "groups.",
        question="singling out",
    ),
    Judged(
        measure=lambda case, demand: rare_values(case.evidence, demand.of, k=case.policy.gate_k), people=True
    ),
    demanded=_rare,
    advisable=True,
)
RARE_TEXTS = Limit(
    "rare_texts",
    Words(
        "At most this share of the {counted} has a text of {} that fewer than {k} {counted} share: rare "
        "texts may name people, or be known to others. Only advice.",
        advice="release the column coarser (a hierarchy with level), map rare texts to one word (clean), or "
        "drop it: names of a household, a doctor or an employer are such texts.",
        question="singling out",
    ),
    Judged(
        measure=lambda case, demand: rare_texts(case.evidence, demand.of, k=case.policy.gate_k), people=True
    ),
    demanded=_texts,
    advisable=True,
)
