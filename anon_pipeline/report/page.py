"""The report of a release as one HTML file: everything in it, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.base.drawing import bars
from anon_pipeline.base.shares import percent
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.releases import released_records
from anon_pipeline.evidence.selection import Selection
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.bins import ALL
from anon_pipeline.report.charts import map_chart, point_of, risks_chart, sizes_chart
from anon_pipeline.report.columns import Correlation, Distribution, SizeBin
from anon_pipeline.report.exposure import Plain
from anon_pipeline.report.findings import Findings
from anon_pipeline.report.manifest_data import Described
from anon_pipeline.report.page_template import page_template
from anon_pipeline.report.rows import noise_rows, policy_text, suppressed_rows, verdict_rows

_PAGE = Path(__file__).parent / "report.html.j2"
_BEFORE_AND_AFTER = "The upper bar is the input, the lower bar the release."
_OF_CLASSES = (
    "The size of classes here is the average share of the release that a record cannot be distinguished "
    "from: small where classes are small. It does not say how much a column has lost, which may be hidden as "
    "a whole: see the levels below."
)
_OF_RECODING = (
    "The information loss here is that of the recoding, by the measure that the policy chose, over all "
    "generalized columns: one of them may be hidden as a whole, see the levels below."
)


@dataclass(frozen=True, slots=True)
class Internal:
    """What only the internal report shows.

    known: see `rows.known_rows`.
    selected: whom the confidence leaves out; None without it.
    """

    known: Sequence[tuple[str, float, float]]
    selected: Selection | None


def page(
    policy: Policy,
    described: Described,
    columns: Sequence[Distribution],
    pairs: Sequence[Correlation],
    found: Findings,
    *,
    internal: Internal | None = None,
) -> bytes:
    """Write a report.

    Args:
        found: what it says first.
        internal: what only the internal report shows; columns and pairs then have the input next to the
            release.
    Returns:
        HTML in UTF-8.
    """
    shown = {
        **_decision(policy, described, found, whole=internal is not None),
        **_sizes_and_risks(described, found.sizes),
        **_recoding_data(policy, described, found),
        **_columns(columns, pairs, found, internal),
        **_origin(policy, described, whole=internal is not None),
    }
    accepted = list(accepted_risks(policy).items())
    return page_template(_PAGE).render(shown, k=policy.gate_k, accepted=accepted).encode()


def _decision(policy: Policy, described: Described, found: Findings, *, whole: bool) -> dict[str, Any]:
    """Return what a report begins with: what was released, the gate's verdicts, who answers for what."""
    exact, warned = described.exact, _warnings(described)
    gate = described.gate if exact is None or exact.gate is None else exact.gate
    return {
        "release": policy.name,
        "internal": whole,
        "summary": list(_summary(described, policy, found.sizes)),
        "verdicts": verdict_rows(gate, policy, exact=whole),
        "people": policy.person is not None,
        "warned": warned,
        "beyond": [name for name in warned if not limit_of(name).of_policy],
        "guarantee": described.document["guarantee"],
        "found": found,
        "responsible": policy.responsible,
        "noisy": ", ".join(policy.perturbed),
    }


def _sizes_and_risks(described: Described, sizes: Sequence[SizeBin]) -> dict[str, Any]:
    """Return the charts of classes, and the release on the map with the names of its axes."""
    exact, point = described.exact, point_of(described, sizes)
    axis = "information loss" if exact else "size of classes"
    chances = {one.risk for one in sizes}
    return {
        "sizes": sizes,
        "one_chance": min(chances) if len(chances) == 1 < len(sizes) else None,
        "sizes_chart": sizes_chart(sizes),
        "risks_chart": risks_chart(sizes),
        "map": map_chart(point, axis),
        "point": point,
        "axis": axis,
        "risk_name": "mean chance 1 in the class's size" if point.limit is None else "linking risk",
        "loss_says": _OF_RECODING if exact else _OF_CLASSES,
    }


def _recoding_data(policy: Policy, described: Described, found: Findings) -> dict[str, Any]:
    """Return what recoding, suppression and noise did, with exact numbers where the reader may have them."""
    exact = described.exact
    facts = described.facts if exact is None else exact.facts
    wanted = facts["k_anonymized"]
    return {
        "loss_name": _loss_in_words(wanted["loss"]) if exact else "average share, by class (discernibility)",
        "suppressed": list(suppressed_rows(facts, policy)),
        "reasons": "suppressed_incomplete" in wanted,
        "levels": found.levels,
        "by_class": wanted["levels"] is None,
        "recoder": wanted["recoder"],
        "noise": noise_rows(facts),
    }


def _columns(
    columns: Sequence[Distribution],
    pairs: Sequence[Correlation],
    found: Findings,
    internal: Internal | None,
) -> dict[str, Any]:
    """Return the distributions and correlations, and what only the internal report shows of people."""
    plain = {column.column: column for column in found.plain}
    return {
        "columns": [_column(i, column, plain.get(column.column)) for i, column in enumerate(columns)],
        "tables": ("records",) if internal is None else ("before", "after"),
        "correlations": [_pair(pair) for pair in pairs],
        "known": () if internal is None else internal.known,
        "selected": None if internal is None else internal.selected,
    }


def _origin(policy: Policy, described: Described, *, whole: bool) -> dict[str, Any]:
    """Return what the release was made with: the policy, the digests of its files, the packages."""
    return {
        "policy": policy_text(policy, internal=whole),
        "digests": list(_digests(described.document)),
        "packages": sorted(described.document["packages"].items()),
    }


def _loss_in_words(name: str) -> str:
    """Say what a loss measures, with its name in the policy; of a plugin that is not loaded its name."""
    loss = LOSSES.get(name)
    return name if loss is None else f"{loss.words} ({name})"


def _warnings(described: Described) -> list[str]:
    return [verdict.limit for verdict in described.gate.with_status(Status.WARNED)]


def _summary(described: Described, policy: Policy, sizes: Sequence[SizeBin]) -> Iterator[tuple[str, str]]:
    document, facts = described.document, described.facts
    files = document["files"]
    others = f" and {len(files) - 1:,} more files" if len(files) > 1 else ""
    yield ("data files" if others else "data file"), files[0]["name"] + others
    yield "made at", document["made_at"]
    if document.get("partition") is not None:
        yield "partition", document["partition"]
    last, people = facts["suppressed"], facts["deidentified"].get("people")
    beyond = facts["deidentified"].get("excess_records", 0)
    many = f"{released_records(document):,} released, of {facts['raw']['records']:,}"
    yield "records", many + (f"; {beyond:,} are beyond {policy.rows} per person" if beyond else "")
    if people is not None:
        yield "people", f"{last['released_people']:,} released, of {people:,}"
    else:
        known = "each record is of another one" if policy.record_key else "not known: records are counted"
        yield "people", known
    yield "classes", f"{facts['suppressed']['classes']:,}"
    yield "k demanded of each class", f"{policy.gate_k:g} " + ("records" if people is None else "people")
    least = sizes[0].label.partition(" to ")[0]
    yield "smallest class released", f"{least} record{'' if least == '1' else 's'}"
    if document.get("epsilon") is not None:
        yield "ε of a record" if people is None else "ε of a person", f"{document['epsilon']:g}"


def _digests(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((file["name"], file["sha256"]) for file in document["files"])
    yield "table", document["data_digest"]
    yield "policy", document["policy_digest"]


def _column(number: int, column: Distribution, plain: Plain | None) -> dict[str, Any]:
    """Return what the template shows of a column: shares of each table make the bars, counts the table.

    Of a column released as it is, whose values are all too rare for a bin, only how many there are.
    """
    whole = [sum(counts) for counts in zip(*(row.counts for row in column.bins), strict=True)]
    rows = [
        (
            row.label,
            [count / n for count, n in zip(row.counts, whole, strict=True)],
            [percent(count / n) for count, n in zip(row.counts, whole, strict=True)],
        )
        for row in column.bins
    ]
    said = f"{len(rows)} groups of bars, shares of the records. "
    said += _BEFORE_AND_AFTER if len(whole) > 1 else "One bar each, of the release."
    name = f"column-{number}"
    hidden = column.role == "generalize" and [row[0] for row in rows] == [TOP]
    rare = plain is not None and column.kind == "categories" and [row[0] for row in rows] == [ALL]
    return {
        "id": name,
        "name": column.column,
        "role": column.role,
        "kind": column.kind,
        "unit": column.unit,
        "plain": plain,
        "rare": rare,
        "hidden": hidden,
        "bins": [(row.label, [f"{count:,}" for count in row.counts]) for row in column.bins],
        "chart": bars(name, f"Distribution of {column.column}", said, rows) if rows else "",
    }


def _pair(pair: Correlation) -> tuple[str, list[str]]:
    cells = ["–" if r is None else f"{r:+.3f}" for r in pair.values]
    if len(pair.values) == 2:
        before, after = pair.values
        cells.append("–" if before is None or after is None else f"{after - before:+.3f}")
    return f"{pair.first} and {pair.second}", cells
