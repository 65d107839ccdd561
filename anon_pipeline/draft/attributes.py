"""The attributes of a proposed policy: sections at safe defaults around the proposed columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_pipeline.draft.lacking_records import allowance, gate_limit, recoding_limit
from anon_pipeline.draft.profile.look import Kind, Seen
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.proposals import Proposal, Sure
from anon_pipeline.draft.profile.usual_k import usual_k
from anon_pipeline.policy.columns import Generalize, Perturb, Sensitive
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.locations import PRIVATE
from anon_pipeline.policy.recoding import LDiversity

MOST_LIMITED = 5
"""Sensitive columns whose classes are limited: each limit leaves out classes."""
LARGEST_EPSILON = 8.0
KEY_NAME = "RELEASE_KEY"
"""Variable of the environment with the secret that people are hashed with."""
_CLOSENESS, _DIVERSITY = 0.5, 2
_LINKED, _CONFIDENCE = 0.1, 0.9
_LOSS = "granularity"
_CERTAIN = 0.95  # share of the commonest value from which on a column has no diversity to keep


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table is, and what its release is called.

    name: of the release.
    path: of the file, relative to the project.
    """

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What tuning chooses; until then the defaults of a table of that size."""

    k: int
    epsilon: float = LARGEST_EPSILON
    confidence: float = _CONFIDENCE


def usual_choice(records: int) -> Chosen:
    """Return k, ε and confidence to begin with."""
    return Chosen(usual_k(records))


def plain_name(text: str) -> str:
    """Make the name of a release of a file's name.

    >>> plain_name("Kunden 2024 (neu)"), plain_name("2024")
    ('Kunden_2024_neu', 'release_2024')
    """
    ascii_ = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"\W+", "_", ascii_, flags=re.ASCII).strip("_")
    return plain if plain[:1].isalpha() else f"release_{plain}".rstrip("_")


def attributes_of(
    profile: Profile, proposals: Sequence[Proposal], place: Place, chosen: Chosen
) -> dict[str, Any]:
    """Put a policy together.

    Args:
        profile: of the table.
        proposals: one for each column.
        place: of the file.
        chosen: k, ε, confidence.
    Returns:
        Attributes of a policy, sections in the order in which they are written.
    """
    files = table_files(proposals, place)
    noisy = any(isinstance(proposal.column, Perturb) for proposal in proposals)
    more = allowance(profile.looks, proposals)
    attributes = {
        "name": place.name,
        "source": _source(profile, place),
        "clean": clean_section(profile, proposals),
        "columns": {p.name: _column(p, files) for p in proposals},
        **_people(proposals, noisy=noisy),
        "anonymize": {"k": chosen.k, "loss": _LOSS, "suppression_limit": recoding_limit(more)},
        "perturb": {"epsilon": chosen.epsilon} if noisy else None,
        "suppress": {"confidence": chosen.confidence} if noisy else None,
        "gate": _gate(proposals, chosen, more, noisy=noisy),
    }
    return {name: _short(section) for name, section in attributes.items() if section}


def owner_of(proposals: Sequence[Proposal]) -> Proposal | None:
    """Return the column that says whose record it is, if people are counted."""
    return next((proposal for proposal in proposals if proposal.person), None)


def _people(proposals: Sequence[Proposal], *, noisy: bool) -> dict[str, Any]:
    """Return the keys of a policy that counts people: ε needs the most records of one."""
    owner = owner_of(proposals)
    if owner is None:
        return {}
    rows = {"rows_per_person": owner.seen.rows} if noisy else {}
    return {"person": owner.name, **rows, "deidentify": {"key_env": KEY_NAME}}


def table_files(proposals: Sequence[Proposal], place: Place) -> dict[str, str]:
    """Return where the table of each column goes that has one, relative to the project."""
    found: dict[str, str] = {}
    for proposal in proposals:
        if proposal.rows:
            slug = plain_name(proposal.name).lower() or "column"
            slug = (
                slug if f"{PRIVATE}/{place.name}/{slug}.csv" not in found.values() else f"{slug}_{len(found)}"
            )
            found[proposal.name] = f"{PRIVATE}/{place.name}/{slug}.csv"
    return found


def _column(proposal: Proposal, files: Mapping[str, str]) -> dict[str, Any]:
    """Return a column as a policy writes it, the role first, a table with its path."""
    document = proposal.document
    if isinstance(proposal.column, Generalize):
        file = hierarchy_kind(proposal.column.hierarchy).file
        document |= {} if file is None else {"hierarchy": {file: files[proposal.name]}}
    return {"role": document.pop("role"), **{name: _short(value) for name, value in document.items()}}


def _short(value: Any) -> Any:
    """Write whole floats as whole numbers."""
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _source(profile: Profile, place: Place) -> dict[str, Any]:
    layout = profile.layout
    if profile.source is not None:
        return dict(profile.source)
    if layout is None:
        return {"path": place.path}
    form = {} if layout.is_text else {"format": layout.format}
    return {"path": place.path, **form, **({"options": layout.written} if layout.written else {})}


def clean_section(profile: Profile, proposals: Sequence[Proposal]) -> dict[str, Any]:
    """Return how the cells become values: for all columns, and for those that are written otherwise."""
    if profile.layout is None:
        return {}
    anywhere = [text for text in profile.missing_texts if text in profile.missing_anywhere]
    columns = {p.name: own for p in proposals if not p.dropped and (own := _cleaning_of(p, anywhere))}
    if not profile.layout.is_text and not any(p.seen.of_texts and not p.dropped for p in proposals):
        return {"columns": columns} if columns else {}  # numbers and days that have a type need no cleaning
    section: dict[str, Any] = {"strip": True}
    section |= {"missing": anywhere} if anywhere else {}
    return section | ({"columns": columns} if columns else {})


def _cleaning_of(proposal: Proposal, anywhere: Sequence[str]) -> dict[str, Any]:
    """Return how one column is cleaned, where that differs from the other ones."""
    seen, own = proposal.seen, dict[str, Any]()
    if seen.kind is Kind.NUMBER and seen.number is not None and not seen.number.plain:
        form = seen.number
        signs = {
            "decimal": form.decimal if form.decimal != "." or (form.ambiguous and not form.thousands) else "",
            "thousands": form.thousands.replace("’", "'"),
            "currency": form.currency,
        }
        own = {"type": "number", **{name: sign for name, sign in signs.items() if sign}}
        own |= {"percent": True} if form.percent else {}
    elif seen.date is not None and not seen.date.plain:
        formats = list(seen.date.formats)
        own = {"type": "date", "format": formats[0] if len(formats) == 1 else formats}
    elif seen.varied:
        own = {"case": "lower"}
    beside = [text for text in seen.missing_texts if text not in anywhere]
    return own | ({"missing": [*anywhere, *beside]} if beside else {})


def is_limited(seen: Seen) -> bool:
    """Tell whether a sensitive column has a diversity that classes can keep."""
    return seen.different >= _DIVERSITY and seen.commonest <= _CERTAIN


def limited_columns(proposals: Sequence[Proposal]) -> list[str]:
    """Name the sensitive columns whose classes are limited: the surest ones first, so many as can be."""
    own = [p for p in proposals if isinstance(p.column, Sensitive) and is_limited(p.seen)]
    own.sort(key=lambda p: (p.sure is not Sure.CERTAIN, p.reason.startswith("an answer"), p.guess))
    return [proposal.name for proposal in own[:MOST_LIMITED]]


def describe_unlimited(proposals: Sequence[Proposal]) -> str | None:
    """Name the sensitive columns whose classes are not limited, and say why; None: there are none."""
    limited = limited_columns(proposals)
    rest = [p for p in proposals if isinstance(p.column, Sensitive) and p.name not in limited]
    beyond = ", ".join(p.name for p in rest if is_limited(p.seen))
    single = ", ".join(p.name for p in rest if not is_limited(p.seen))
    most = f"at most {MOST_LIMITED} columns get one, since each leaves classes out"
    said = [f"{beyond} ({most})"] if beyond else []
    said += [f"{single} (nearly all records have one value)"] if single else []
    return "; ".join(said) or None


def _gate(proposals: Sequence[Proposal], chosen: Chosen, more: float, *, noisy: bool) -> dict[str, Any]:
    names = limited_columns(proposals)
    diversity = LDiversity(l=_DIVERSITY).model_dump(exclude_unset=True)
    gate: dict[str, Any] = {"k": chosen.k, "suppression": gate_limit(more)}
    if names:
        gate |= {
            "t_closeness": dict.fromkeys(names, _CLOSENESS),
            "l_diversity": dict.fromkeys(names, diversity),
        }
    return gate | ({"linking_risk": _LINKED, "confidence_k": chosen.k} if noisy else {})
