"""The page about a collection: all releases in a folder together, each limit where it is kept worst.

It is made of verified manifests and of what the collection says alone, so that whoever verifies the folder
can make it again.

Decision: docs/adr/0097-a-collection-of-releases.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from anon_pipeline.base.shares import percent
from anon_pipeline.limits.meanings import OVER_NOISE
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.report.collection_figures import CollectionFigures, PartFigures
from anon_pipeline.report.page_template import page_template

LISTED: Final = 1_000
"""Releases with a row of their own; more would make the page too large to be opened."""
_SENTENCES: Final = 100  # of guarantees, with those that only some releases have
_REVIEWED: Final = "accepted.reviewed"
_PAGE: Final = Path(__file__).parent / "collection_page.html.j2"


def collection_page(document: Mapping[str, Any], found: CollectionFigures) -> bytes:
    """Write the page about a collection.

    Args:
        document: the collection, without its report and signature.
        found: what the manifests of its releases say.
    Returns:
        HTML in UTF-8; equal for equal arguments.
    """
    limits = list(found.limits.values())
    if not any(part.noise for part in found.parts):
        limits = [replace(row, meaning=row.meaning.removesuffix(OVER_NOISE).rstrip()) for row in limits]
    numbered = [row for row in limits if row.folder]
    unpublished = [row for row in limits if row.has_bound and not row.folder]
    held = [row for row in limits if not row.has_bound and not row.warned]
    warned = [row for row in limits if row.warned]
    shown = {
        "name": document["release"] or f"{len(found.parts)} releases",
        "many": len(found.parts),
        "summary": list(_summary(document, found.parts)),
        "first": list(_first_sentences(document, found.parts)),
        "worst": numbered,
        "unpublished": unpublished,
        "held": [row.limit for row in held],
        "promised": list(_promise_lines(found)),
        "several": sum(row.warned for row in warned if row.limit == REPEATED_PEOPLE.name),
        "warned": [row for row in warned if not row.of_policy],
        "parts": [_row(part) for part in found.parts[:LISTED]],
        "more": max(len(found.parts) - LISTED, 0),
        "people": any(part.people for part in found.parts),
        "version": document["anon_pipeline"],
    }
    accepted = [row for row in warned if row.of_policy and row.limit != _REVIEWED]
    unreviewed = sum(row.warned for row in warned if row.limit == _REVIEWED)
    return page_template(_PAGE).render(shown, accepted=accepted, unreviewed=unreviewed).encode()


def _promise_lines(found: CollectionFigures) -> Iterator[str]:
    """Yield the sentences of the guarantee; those that not all releases have say how many do."""
    for sentence, count in list(found.promised.items())[:_SENTENCES]:
        some = "" if count == len(found.parts) else f" (in {count:,} of {len(found.parts):,} releases)"
        yield f"{sentence}{some}"
    if len(found.promised) > _SENTENCES:
        yield f"And {len(found.promised) - _SENTENCES:,} more sentences: see the reports of the releases."


def _summary(document: Mapping[str, Any], parts: Sequence[PartFigures]) -> Iterator[tuple[str, str]]:
    """Yield the numbers at the top of the page."""
    sums, times = document["together"], sorted(part.made_at for part in parts)
    yield "releases", f"{len(parts):,}"
    yield "made", times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1]}"
    if sums is None:
        return
    yield "records", f"{sums['released']:,} released, of {sums['records']:,}"
    if people := _people_text(parts):
        yield "people", people
    yield "left out", _share(1 - sums["released"] / max(sums["records"], 1))
    if sums["classes"] is not None:
        yield "classes", f"{sums['classes']:,}"
        yield "smallest class", f"{sums['smallest']:,} records"
    yield "k promised", _range([part.k for part in parts], "")
    yield "ε of a record, in one release", _range([part.epsilon for part in parts], "no noise with an ε")
    if sums["policies"] > 1:
        yield "policies", f"{sums['policies']:,} different ones"


def _people_text(parts: Sequence[PartFigures]) -> str:
    """Say how many people the releases have, where all of them count people."""
    known = [part.people for part in parts if part.people is not None]
    if not known or len(known) < len(parts):
        return ""
    came, left = (sum(people[at] for people in known) for at in (0, 1))
    return f"{left:,} released, of {came:,}; a person in several releases is counted in each of them"


def _first_sentences(
    document: Mapping[str, Any], parts: Sequence[PartFigures]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what a reader wants to know first: a lead, and sentences."""
    yield "What is this?", _what(document, parts)
    yield "Is it complete?", [_completeness(document)]
    yield "What is left out?", _left_out(document["together"], parts)
    if document["together"] is not None:
        yield "How are people protected?", list(_protection(document["together"], parts))
    yield "How sure is that?", list(_certainty(document))


def _what(document: Mapping[str, Any], parts: Sequence[PartFigures]) -> list[str]:
    if document["together"] is None:
        kinds = sorted({part.kind or "a release of classes" for part in parts})
        return [
            f"{len(parts):,} releases in one folder, each with a report of its own. Their numbers are not "
            f"added up, because they are different releases or of different kinds ({', '.join(kinds)})."
        ]
    return [
        f"{len(parts):,} releases that belong together, such as the parts of a divided table or of several "
        "months. Each was judged by itself, and has a report of its own. This page says what they are "
        "together."
    ]


def _completeness(document: Mapping[str, Any]) -> str:
    if document["keys_checked"]:
        return "Yes. When this page was made, there was one release of each key that the policy lists."
    return (
        "It was not compared with a list of keys in the policy. The collection lists all releases that were "
        "there when this page was made."
    )


def _left_out(sums: Mapping[str, Any] | None, parts: Sequence[PartFigures]) -> list[str]:
    """Say how many records are left out, in all and in the releases with the least and the most."""
    known = [(part.left_out, part) for part in parts if part.left_out is not None]
    if sums is None or not known:
        return ["The releases are not added up. See the report of each of them."]
    lost = sums["records"] - sums["released"]
    least, most = (pick(known, key=lambda one: one[0]) for pick in (min, max))
    said = [f"{lost:,} of {sums['records']:,} records ({_share(lost / max(sums['records'], 1))})."]
    if len(parts) > 1:
        said.append(
            f"Least in {least[1].key} ({_share(least[0])}), most in {most[1].key} ({_share(most[0])})."
        )
    return said


def _protection(sums: Mapping[str, Any], parts: Sequence[PartFigures]) -> Iterator[str]:
    promised = _range([part.k for part in parts], "–")
    smallest = [part for part in parts if part.smallest is not None]
    counted = "people" if any(part.people for part in parts) else "records"
    yield (
        f"Each class of equal quasi-identifiers must have at least k {counted} in its release (k = "
        f"{promised})."
    )
    if smallest:
        least = min(smallest, key=lambda part: part.smallest or 0)
        yield f"The smallest class of a single release has {least.smallest:g} {counted}, in {least.key}."
    if sums["shared"] is not None:
        yield (
            "No class has records in more than one release."
            if sums["shared"] == 0
            else f"{sums['shared']:,} of {sums['classes']:,} classes have records in more than one release."
        )
    yield (
        "Limits were judged within each release: where a limit compares with the whole input, that is the "
        "input of that release. What somebody learns by combining releases about the same people is not "
        "judged here."
    )
    if any(part.epsilon is not None for part in parts):
        yield (
            "Noise spends ε in each release. If a person is in several releases, the values of ε add up; the "
            "ledger of the publisher counts that."
        )


def _certainty(document: Mapping[str, Any]) -> Iterator[str]:
    yield "All numbers come from the manifests of the releases, after each release was verified."
    yield "anon-pipeline verify FOLDER verifies all of it again, and compares this page with the releases."


def _row(part: PartFigures) -> dict[str, str]:
    """Return the row of a release, as texts."""
    return {
        "key": part.key,
        "link": part.link,
        "kind": part.kind,
        "records": "–" if part.records is None else f"{part.records:,}",
        "released": "–" if part.released is None else f"{part.released:,}",
        "people": "–" if part.people is None else f"{part.people[1]:,} of {part.people[0]:,}",
        "left out": "–" if part.left_out is None else _share(part.left_out),
        "smallest class": "–" if part.smallest is None else f"{part.smallest:g}",
        "linking risk": part.linking,
        "passed": f"{part.passed:,}",
        "warned": f"{part.warned:,}",
        "ε": "–" if part.epsilon is None else f"{part.epsilon:g}",
    }


def _share(share: float) -> str:
    return percent(share)


def _range(values: Sequence[float | None], without: str) -> str:
    """Say one number, or from which to which; ``without`` where there is none."""
    known = sorted({value for value in values if value is not None})
    if not known:
        return without or "–"
    return f"{known[0]:g}" if len(known) == 1 else f"{known[0]:g} to {known[-1]:g}"
