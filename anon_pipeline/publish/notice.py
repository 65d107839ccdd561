"""What to tell the recipients of a release that was withdrawn: a text that is ready to be sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

from anon_pipeline.ledger.chain import Event
from anon_pipeline.publish.manifest.manifest import BESIDE
from anon_pipeline.publish.verify.old_warnings import warnings_for

_WIDTH = 100
_TO_DO = (
    "Stop using the release, and tables and results that hold its records.",
    "Delete its files and all copies and extracts of them, in backups as far as you can. {which}",
    "Forward this message to everybody to whom you have passed the release on.",
    "Confirm to us that you have done so.",
)
_BY_FILES = "A copy has the SHA-256 above (sha256sum FILE), whatever its name."
_BY_MANIFEST = "They are the files next to a manifest.json with the data_digest above."
_CANNOT = (
    "Anyone who has seen the release knows what it revealed, and deleting it does not undo that. Together "
    "with later releases of the same people it may reveal more: so it stays in our account of what was "
    "published about them, and we count it in all later releases."
)


def withdrawal_notice(published: Event, withdrawn: Event, document: Mapping[str, Any] | None) -> str:
    """Write what to tell the recipients of a withdrawn release.

    Args:
        published: the ledger's last entry of its publication.
        withdrawn: the entry of its withdrawal.
        document: its manifest, where the destination still has it; None: the text names it by its content
        alone.
    """
    which = _BY_MANIFEST if document is None else _BY_FILES
    lines = [
        f"Subject: please delete the release {published.release}{_of(published)}",
        "",
        f"We have withdrawn a release that you may have received: {published.release}{_of(published)}.",
        "",
        *(f"  {name:<11}{value}" for name, value in _facts(published, withdrawn, document)),
        "",
        *_wrap("Why it may matter", _reasons(document)),
        "",
        *_wrap("Please", tuple(line.format(which=which) for line in _TO_DO)),
        "",
        fill(f"What cannot be undone: {_CANNOT}", _WIDTH),
    ]
    return "\n".join(lines)


def _of(event: Event) -> str:
    return "" if event.partition is None else f", partition {event.partition}"


def _facts(
    published: Event, withdrawn: Event, document: Mapping[str, Any] | None
) -> Iterator[tuple[str, str]]:
    """Yield what the release can be known by."""
    yield "dataset", published.dataset
    yield "published", f"{published.at[:19]} UTC"
    yield "withdrawn", f"{withdrawn.at[:19]} UTC"
    if document is not None:
        for item in (*document["files"], *(document[part] for part in BESIDE if part in document)):
            yield "file", item["name"]
            yield "SHA-256", item["sha256"]
    yield "content", f"{published.data_digest} (data_digest in its manifest.json)"
    yield "ledger", published.release_id


def _reasons(document: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Say why a release may matter: what its manifest is known to reveal in excess, otherwise that it may."""
    known = [f"Of the release: {warning.text}." for warning in warnings_for(document or {})]
    return ("It may reveal more about the people in it than it was meant to.", *known)


def _wrap(heading: str, points: tuple[str, ...]) -> Iterator[str]:
    """Yield a heading and its points, numbered."""
    yield f"{heading}:"
    for number, point in enumerate(points, 1):
        yield fill(point, _WIDTH, initial_indent=f"  {number}. ", subsequent_indent="     ")
