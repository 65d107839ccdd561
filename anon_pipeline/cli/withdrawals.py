"""Warnings about releases that are out: that one was withdrawn, or reveals too much; as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish.verify.old_warnings import Warned


def find_withdrawal(release: Path, locations: Locations) -> Warned | None:
    """Return the warning that the project's ledger has a release as withdrawn, see `warn_if_withdrawn`.

    Args:
        release: its folder or its manifest.
    """
    from anon_pipeline.publish.verify.withdrawn import warn_if_withdrawn  # noqa: PLC0415
    from anon_pipeline.publish.writer import read_manifest  # noqa: PLC0415

    document = read_manifest(release if release.is_dir() else release.parent)
    return warn_if_withdrawn(document or {}, locations.ledger)


def print_withdrawal(release: Path, locations: Locations) -> list[Warned]:
    """Warn if the project's ledger has a release as withdrawn, see `find_withdrawal`; return the warnings."""
    withdrawal = find_withdrawal(release, locations)
    found = [] if withdrawal is None else [withdrawal]
    print_warnings_about(found)
    return found


def print_warnings_about(found: Iterable[Warned]) -> None:
    """Print warnings about a release on standard error, each with the page that explains it."""
    for one in found:
        click.echo(f"warning: {one.text}. See {one.section}", err=True)


def warning_documents(found: Iterable[Warned]) -> list[dict[str, Any]]:
    """Return warnings about a release, as JSON has them."""
    return [{"name": one.name, "text": one.text, "section": one.section} for one in found]
