"""Commands about the ledger: `ledger list`, `verify`, `export`, `close`, `withdraw`, `adopt`, `forget`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.ledger_closing import destination_of, refuse_unless_ended
from anon_pipeline.cli.ledger_known import adopt, forget
from anon_pipeline.cli.ledger_output import describe_total, print_releases, release_row
from anon_pipeline.cli.options import (
    always_json_option,
    json_option,
    locations_of,
    policy_option,
    project_option,
)
from anon_pipeline.cli.shared import echo_json

if TYPE_CHECKING:
    from anon_pipeline.ledger import Ledger
    from anon_pipeline.ledger.budget import State
    from anon_pipeline.ledger.chain import Event


@click.group()
def ledger() -> None:
    """Show and repair the ledger of releases and their ε."""


@ledger.command("list")
@click.option("--dataset", help="Only the releases of this dataset.")
@json_option
@project_option
def list_(dataset: str | None, as_json: bool, project: Path | None) -> None:
    """List the releases and the ε that each dataset has spent."""
    from anon_pipeline.ledger.budget import release_states  # noqa: PLC0415

    book = _open_ledger(project)
    events, broken = book.read_and_verify()
    if broken is not None:
        click.echo(
            f"warning: the chain is broken at event {broken.seq}. Run anon-pipeline ledger verify.", err=True
        )
    found = release_states(events).values()
    wanted = [state for state in found if dataset in {None, state.last.dataset}]
    if as_json:
        echo_json(
            {"broken_at": None if broken is None else broken.seq, "releases": [*map(release_row, wanted)]}
        )
    else:
        print_releases(wanted)
    late = [s.last.release_id for s in wanted if s.last.note in {"after failed", "after withdrawn"}]
    if late:
        click.echo(f"warning: published although marked as failed or withdrawn: {', '.join(late)}", err=True)
    for name in () if as_json else sorted({state.last.dataset for state in wanted}):
        click.echo(describe_total(name, [state for state in wanted if state.last.dataset == name]))


@ledger.command()
@click.option(
    "--contains", metavar="HASH", help="A hash that you noted earlier; it must still be in the chain."
)
@json_option
@project_option
def verify(contains: str | None, as_json: bool, project: Path | None) -> None:
    """Verify the hash chain; exit with 1 where it breaks."""
    book = _open_ledger(project)
    events, broken = book.read_and_verify(contains=contains)
    if as_json:
        last = events[-1].hash if events and broken is None else None
        at = None if broken is None else broken.seq
        echo_json({"verified": broken is None, "broken_at": at, "events": len(events), "last_hash": last})
    if broken is not None:
        click.echo(f"broken at event {broken.seq}: {broken.reason}", err=True)
        sys.exit(1)
    if as_json:
        return
    click.echo(f"{len(events)} events, none changed. Keep a copy of the last hash elsewhere:")
    if events:
        click.echo(events[-1].hash)


@ledger.command()
@project_option
@always_json_option
def export(project: Path | None) -> None:
    """Print all events as JSON lines, with their hashes."""
    for event in _open_ledger(project).events():
        click.echo(json.dumps(asdict(event), ensure_ascii=False))


@ledger.command()
@click.argument("release_id", metavar="ID")
@click.option(
    "--as",
    "state",
    required=True,
    type=click.Choice(["failed", "published"]),
    help="failed: nothing was written. The key of its noise is destroyed, its ε stays spent. published: it "
    "was written, or may have been.",
)
@policy_option("Policy of the release, to check its destination. Required for failed once writing has begun.")
@click.option(
    "--force",
    is_flag=True,
    help="Close as failed even if its process may still be running. The id becomes invalid: if the process "
    "goes on, it is refused.",
)
@project_option
@json_option
def close(
    *,
    release_id: str,
    state: str,
    policy_file: Path | None,
    force: bool,
    project: Path | None,
    as_json: bool,
) -> None:
    """Close a release that a crash has left open.

    ID is the release's id; its first digits are enough. You can also give up the noise of a release that was
    refused or has failed: the next run on the same data and policy then draws new noise, which costs ε again.
    If this ledger does not know the id, the key is removed from the vault and nothing is booked.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger.fence import close as close_as_failed  # noqa: PLC0415

    book = _open_ledger(project, policy_file)
    if state == "failed" and not _states_beginning(book, release_id):
        unbooked = _given_up(book, release_id, policy_file, project)
        if unbooked is not None:
            said = (
                f"{unbooked} is not in this ledger: the key of its noise was removed from the vault, and "
                f"nothing was booked. If another ledger has booked it, close it there, too."
            )
            _tell(said, {"id": unbooked, "state": None}, as_json=as_json)
            return
    found = _state(book, release_id)
    full = found.last.release_id
    refused = found.last.event == "failed" and found.drawn_at is not None and found.published_at is None
    shut = found.last.event != "opened" or (found.is_opened_again and state == "failed")
    if shut and not (refused and state == "failed"):
        raise InputError(f"only an open release can be closed, {full} is {found.name}")
    if state == "published":
        if found.begun is None:
            raise InputError(f"{full} cannot have been published: its writing never began")
        book.enter_published(full, found.begun)
        _forget(full, policy_file, project)
    else:
        forced = not refused and refuse_unless_ended(found, force=force)
        there = destination_of(found, policy_file, project)
        close_as_failed(book, full, seen=found.last.hash, there=there, forced=forced)
        _forget(full, policy_file, project)
    now = _state(book, full).name
    _tell(f"{full} is {now}", {"id": full, "state": now}, as_json=as_json)


@ledger.command()
@click.argument("release_id", metavar="ID")
@policy_option("Policy of the release, to find its manifest. The text then names files, digests and reasons.")
@project_option
@json_option
def withdraw(release_id: str, policy_file: Path | None, project: Path | None, as_json: bool) -> None:
    """Mark a published release as withdrawn.

    Prints what to tell its recipients.

    Its ε stays spent: it was seen. No file is deleted: remove the files yourself.
    """
    from anon_pipeline.publish.notice import withdrawal_notice  # noqa: PLC0415

    book = _open_ledger(project, policy_file)
    found = _state(book, release_id).last
    document = None if policy_file is None else _manifest_of(found, policy_file, project)
    book.withdraw(found.release_id)
    now = _state(book, found.release_id)
    notice = withdrawal_notice(found, now.last, document)
    said = f"{found.release_id} is withdrawn. Tell its recipients:\n\n{notice}"
    _tell(said, {"id": found.release_id, "state": now.name, "notice": notice}, as_json=as_json)


def _tell(said: str, document: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what was done, in words or as JSON."""
    if as_json:
        echo_json(document)
    else:
        click.echo(said)


def _manifest_of(last: Event, policy_file: Path, project: Path | None) -> dict[str, Any] | None:
    """Return the manifest of a release if it is still the one at its destination."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.accounting.booking import is_manifest_of  # noqa: PLC0415
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415
    from anon_pipeline.publish.release_files import manifest_of  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    if policy.name != last.release:
        raise InputError(f"--policy must be that of {last.release}, got that of {policy.name}")
    folder = locations_of(policy_file, project).release(policy, last.partition)
    if not is_manifest_of(folder, last.release_id):
        return None
    return manifest_of(folder / MANIFEST)


ledger.add_command(adopt)
ledger.add_command(forget)


def _open_ledger(project: Path | None, policy_file: Path | None = None) -> Ledger:
    """Open the ledger of a project: that of the policy, else the one that this folder is in."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger import ledger_at  # noqa: PLC0415
    from anon_pipeline.policy.locations import OFF  # noqa: PLC0415

    url = locations_of(policy_file or Path("policy.yaml"), project).ledger
    if url == OFF:
        raise InputError("ANON_PIPELINE_LEDGER must name a ledger, got off")
    return ledger_at(url, make=False)


def _forget(release_id: str, policy_file: Path | None, project: Path | None) -> None:
    """Destroy the key of a draw; what this vault does not have, the next run that finds it destroys."""
    from anon_pipeline.publish.draws.draw_keys import destroy_draw_key  # noqa: PLC0415
    from anon_pipeline.vault.store import store_at  # noqa: PLC0415

    destroy_draw_key(
        store_at(locations_of(policy_file or Path("policy.yaml"), project).vault_place), release_id
    )


def _given_up(book: Ledger, beginning: str, policy_file: Path | None, project: Path | None) -> str | None:
    """Remove the key of a draw that the ledger does not know; return its id, None if there is none."""
    from anon_pipeline.publish.draws.orphan_draws import give_up_unbooked  # noqa: PLC0415

    return give_up_unbooked(book, locations_of(policy_file or Path("policy.yaml"), project), beginning)


def _states_beginning(book: Ledger, beginning: str) -> list[State]:
    from anon_pipeline.ledger.budget import release_states  # noqa: PLC0415

    return [state for key, state in release_states(book.events()).items() if key.startswith(beginning)]


def _state(book: Ledger, beginning: str) -> State:
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    fitting = _states_beginning(book, beginning)
    if not fitting:
        raise InputError(f"no release id begins with {beginning!r}. Run anon-pipeline ledger list.")
    if len(fitting) > 1:
        raise InputError(f"{len(fitting)} release ids begin with {beginning!r}: give more digits")
    return fitting[0]
