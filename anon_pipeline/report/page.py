"""The report of a release as one HTML file: everything in it, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from anon_pipeline.base.drawing import Paper, axes, bars, limit_line, picture, shape
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.evidence.selection import Selection
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.limits.table import limit_of, names_where
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.bins import ALL
from anon_pipeline.report.columns import Correlation, Distribution, SizeBin
from anon_pipeline.report.exposure import Plain
from anon_pipeline.report.findings import Findings
from anon_pipeline.report.manifest_data import Described
from anon_pipeline.report.rows import noise_rows, policy_text, suppressed_rows, verdict_rows

if TYPE_CHECKING:
    from jinja2 import Template


_PAPER = Paper(left=48, top=24, wide=260, high=260)
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
_MAPPED = names_where(lambda limit: limit.forecast.mapped)


@dataclass(frozen=True, slots=True)
class Point:
    """A release on the map: information loss, risk, the risk's limit (None without one), all in [0, 1]."""

    loss: float
    risk: float
    limit: float | None


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
    exact = described.exact
    facts = described.facts if exact is None else exact.facts
    gate = described.gate if exact is None or exact.gate is None else exact.gate
    sizes = found.sizes
    point = point_of(described, sizes)
    measured = point.limit is not None
    axis = "information loss" if exact else "size of classes"
    wanted, plain = facts["k_anonymized"], {column.column: column for column in found.plain}
    return (
        _template()
        .render(
            release=policy.name,
            internal=internal is not None,
            summary=list(_summary(described, policy, sizes)),
            verdicts=verdict_rows(gate, policy, exact=internal is not None),
            people=policy.person is not None,
            warned=_warnings(described),
            beyond=[name for name in _warnings(described) if not limit_of(name).of_policy],
            accepted=list(accepted_risks(policy).items()),
            guarantee=described.document["guarantee"],
            found=found,
            responsible=policy.responsible,
            noisy=", ".join(policy.perturbed),
            sizes=sizes,
            sizes_chart=sizes_chart(sizes),
            risks_chart=risks_chart(sizes),
            map=_map(point, axis),
            point=point,
            axis=axis,
            risk_name="linking risk" if measured else "mean chance 1 in the class's size",
            loss_name=_loss_in_words(wanted["loss"]) if exact else "average share, by class (discernibility)",
            loss_says=_OF_RECODING if exact else _OF_CLASSES,
            suppressed=list(suppressed_rows(facts, policy)),
            levels=found.levels,
            by_class=wanted["levels"] is None,
            recoder=wanted["recoder"],
            noise=noise_rows(facts),
            k=policy.gate_k,
            columns=[_column(i, column, plain.get(column.column)) for i, column in enumerate(columns)],
            tables=("before", "after") if internal is not None else ("records",),
            correlations=[_pair(pair) for pair in pairs],
            known=() if internal is None else internal.known,
            selected=None if internal is None else internal.selected,
            policy=policy_text(policy, internal=internal is not None),
            digests=list(_digests(described.document)),
            packages=sorted(described.document["packages"].items()),
        )
        .encode()
    )


def _loss_in_words(name: str) -> str:
    """Say what a loss measures, with its name in the policy; of a plugin that is not loaded its name."""
    loss = LOSSES.get(name)
    return name if loss is None else f"{loss.words} ({name})"


def _warnings(described: Described) -> list[str]:
    return [verdict.limit for verdict in described.gate.with_status(Status.WARNED)]


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only who publishes

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


def point_of(described: Described, sizes: Sequence[SizeBin]) -> Point:
    """Return where a release lies, by numbers that the report may show.

    Where exact ones are there: its linking risk if the gate limits it, and the loss of its recoding. Else the
    mean of 1/m and the loss computed from the release.
    """
    loss, exact = described.loss, described.exact
    if exact is not None:
        loss = float(exact.facts["k_anonymized"]["information_loss"])
    for verdict in () if exact is None or exact.gate is None else exact.gate.verdicts:
        if verdict.limit in _MAPPED and verdict.value is not None:
            return Point(loss, verdict.value, verdict.bound)
    people = described.facts["suppressed"].get("released_people")
    counted = sum(row.records for row in sizes) if people is None else people
    return Point(loss, min(sum(row.classes for row in sizes) / counted, 1.0), None)


def _summary(described: Described, policy: Policy, sizes: Sequence[SizeBin]) -> Iterator[tuple[str, str]]:
    document, facts = described.document, described.facts
    (file,) = document["files"]
    yield "data file", file["name"]
    yield "made at", document["made_at"]
    if document.get("partition") is not None:
        yield "partition", document["partition"]
    last, people = facts["suppressed"], facts["deidentified"].get("people")
    beyond = facts["deidentified"].get("excess_records", 0)
    many = f"{file['records']:,} released, of {facts['raw']['records']:,}"
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
    (file,) = document["files"]
    yield file["name"], file["sha256"]
    yield "table", document["data_digest"]
    yield "policy", document["policy_digest"]


def sizes_chart(sizes: Sequence[SizeBin]) -> Markup:
    """Draw how many records are in classes of which size."""
    rows = [(row.label, [row.records], [f"{row.records:,}"]) for row in sizes]
    said = "Bars by the size of the class: how many records are in classes of that size."
    return bars("sizes", "Records by the size of their class", said, rows)


def risks_chart(sizes: Sequence[SizeBin]) -> Markup:
    """Draw the largest chance to pick a person's record, by the size of the class."""
    rows = [(row.label, [row.risk], [f"{row.risk:.4f}"]) for row in sizes]
    said = "Bars by the size of the class: the largest chance to pick a person's record."
    return bars("risks", "Risk by the size of the class", said, rows)


def _map(point: Point, axis: str) -> Markup:
    """Draw where a release lies between risk and loss; the risk's axis ends where limit and point fit.

    Args:
        axis: what the loss is.
    """
    most = next(
        top for top in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if top >= max(point.risk, point.limit or 0)
    )
    said = f"A point at {axis} {point.loss:.4g} and risk {point.risk:.4g}"
    said += "." if point.limit is None else f"; the limit of the risk is {point.limit:.4g}."
    parts = [
        *axes(_PAPER, *([(share, f"{share * end:g}") for share in (0.0, 0.5, 1.0)] for end in (1.0, most))),
        shape("text", axis, x=_PAPER.x(0.5), y=_PAPER.y(0) + 34, text_anchor="middle"),
        shape("text", "risk", x=_PAPER.left, y=14, text_anchor="middle"),
        *(() if point.limit is None else limit_line(_PAPER, point.limit / most, "limit")),
        shape("circle", class_="after", cx=_PAPER.x(point.loss), cy=_PAPER.y(point.risk / most), r=6),
    ]
    size, title = (_PAPER.x(1) + 24, _PAPER.y(0) + 44), f"This release between risk and {axis}"
    return picture("map", title, said, size, parts)


def _column(number: int, column: Distribution, plain: Plain | None) -> dict[str, Any]:
    """Return what the template shows of a column: shares of each table make the bars, counts the table.

    Of a column released as it is, whose values are all too rare for a bin, only how many there are.
    """
    whole = [sum(counts) for counts in zip(*(row.counts for row in column.bins), strict=True)]
    rows = [
        (
            row.label,
            [count / n for count, n in zip(row.counts, whole, strict=True)],
            [f"{count / n:.1%}" for count, n in zip(row.counts, whole, strict=True)],
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
