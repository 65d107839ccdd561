"""A profile as rows, JSON and HTML: names of columns, kinds, counts, reasons; never a value of the data."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.draft.profile.look import MOSTLY, SOME, Kind, Seen
from anon_pipeline.draft.profile.profile_table import Profile

HEADINGS = ("column", "holds", "different", "missing", "separation", "role", "how sure", "why", "question")
_WORDS = {detector.name: detector.words for detector in DETECTORS}
_PAGE = """\
<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Profile of {{ name }}</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid #ccc }
.question { color: #8a3b00 } .private { background: #fff3d6; padding: .5rem }
</style>
<h1>Profile of {{ name }}</h1>
<p class="private">Computed from the originals and not protected: for the curator, not for publication.
No value of the data is shown.</p>
<ul>{% for line in lines %}<li>{{ line }}</li>{% endfor %}</ul>
<table><thead><tr>{% for heading in headings %}<th>{{ heading }}</th>{% endfor %}</tr></thead><tbody>
{% for row in rows %}<tr>{% for cell in row[:-1] %}<td>{{ cell }}</td>{% endfor %}
<td class="question">{{ row[-1] }}</td></tr>
{% endfor %}</tbody></table></html>
"""


def holds(seen: Seen) -> str:
    """Say what a column holds, for people.

    >>> holds(Seen("x", Kind.NUMBER, 3, whole=True))
    'whole numbers'
    """
    if seen.found:
        words = ", ".join(_WORDS[name] for name in seen.found)
        if seen.found_share >= MOSTLY:
            return words
        return f"{holds(replace(seen, found=()))}, {'some' if seen.found_share >= SOME else 'a few'} {words}"
    if seen.kind is Kind.NUMBER:
        said = "whole numbers" if seen.whole else "numbers"
        form = seen.number
        if form is None or form.plain:
            return said
        signs = [f"decimal {form.decimal}", f"thousands {form.thousands}" if form.thousands else ""]
        signs += [form.currency or "", "%" if form.percent else ""]
        return f"{said} ({', '.join(filter(None, signs))})"
    if seen.kind is Kind.DATE:
        return "dates" + (f" ({', '.join(seen.date.formats)})" if seen.date and seen.date.formats else "")
    return {Kind.CATEGORY: "categories", Kind.EMPTY: "nothing"}.get(seen.kind, str(seen.kind))


def rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return a row of texts for each column, as `HEADINGS`."""
    return [
        (
            proposal.name,
            holds(proposal.seen),
            f"{proposal.seen.different:,}",
            f"{proposal.seen.missing_share:.1%}" if proposal.seen.missing else "",
            f"{alone.separation:.2f}",
            proposal.role,
            str(proposal.sure),
            proposal.reason,
            proposal.question or "",
        )
        for proposal, alone in zip(profile.proposals, profile.separations, strict=True)
    ]


def lines(profile: Profile) -> list[str]:
    """Say what is known of the table as a whole."""
    said = [
        f"{profile.records:,} records, {len(profile.proposals)} columns, {len(profile.questions)} questions"
    ]
    layout = profile.layout
    if layout is not None and layout.is_text:
        guess = " (a guess)" if layout.guessed_encoding else ""
        said.append(f"separator {layout.sep!r}, encoding {layout.encoding}{guess}")
    if layout is not None and layout.skip_lines:
        said.append(f"lines before the names of the columns: {layout.skip_lines}")
    if profile.odd:
        said.append(profile.odd_question)
    if profile.missing_texts:
        said.append(f"texts for a missing value: {' '.join(profile.missing_texts)}")
    together = profile.together
    if together is not None:
        names = ", ".join(profile.proposals[j].name for j in together.columns)
        verb = "distinguishes" if len(together.columns) == 1 else "distinguish"
        said.append(
            f"unchanged, {names} {verb} {together.separation:.2%} of the pairs of records; "
            f"{together.alone:.1%} of the records are unique"
        )
    return said


def as_json(profile: Profile) -> str:
    """Write a profile as JSON."""
    layout = profile.layout
    document: dict[str, Any] = {
        "records": profile.records,
        "layout": None
        if layout is None
        else {
            "format": layout.format,
            "sep": layout.sep,
            "encoding": layout.encoding,
            "guess": layout.guessed_encoding,
            "skip_lines": layout.skip_lines,
        },
        "odd_records": asdict(profile.odd),
        "missing_texts": list(profile.missing_texts),
        "together": None
        if profile.together is None
        else {
            "columns": [profile.proposals[j].name for j in profile.together.columns],
            "distinction": profile.together.distinction,
            "separation": profile.together.separation,
            "alone": profile.together.alone,
        },
        "columns": [_column(profile, place) for place in range(len(profile.proposals))],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _column(profile: Profile, place: int) -> dict[str, Any]:
    proposal, alone = profile.proposals[place], profile.separations[place]
    seen = proposal.seen
    return {
        "name": proposal.name,
        "holds": holds(seen),
        "different": seen.different,
        "missing": seen.missing,
        "distinction": seen.distinction,
        "separation": alone.separation,
        "alone": alone.alone,
        "role": proposal.role,
        "policy": proposal.document,
        "sure": str(proposal.sure),
        "reason": proposal.reason,
        "question": proposal.question,
    }


def as_html(profile: Profile, name: str) -> str:
    """Write a profile as one page that fetches nothing.

    Args:
        name: of the file.
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - only who asks for a page

    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_PAGE)
    return template.render(name=name, lines=lines(profile), headings=HEADINGS, rows=rows(profile)) + "\n"
