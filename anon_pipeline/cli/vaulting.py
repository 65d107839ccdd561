"""Commands on the vault: `vault measured`, `waiting`, `status`, `rotate`, `purge`, `new-people`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import (
    NEW_FILE,
    PATH,
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    project_options,
    this_project_option,
    together,
)
from anon_pipeline.cli.shared import echo_json, write_file

if TYPE_CHECKING:
    from anon_pipeline.vault.store import Store


_of_a_vault = together(
    this_project_option("Project of the vault: it is in vault/, or where ANON_PIPELINE_VAULT says."),
    click.option("--vault", "place", help="Another vault: a folder, or a URL that fsspec knows."),
    click.option(
        "--key-names",
        default="ANON_PIPELINE_VAULT",
        show_default=True,
        help="Prefix of the environment variables: …_KEY, …_KEY_FILE, …_KEY_COMMAND, …_OLD_KEYS….",
    ),
)


@click.group()
def vault() -> None:
    """Manage private tables between stages: encryption, keys, deletion.

    The key is in the environment: ANON_PIPELINE_VAULT_KEY (32 bytes in base64 or hexadecimal),
    ANON_PIPELINE_VAULT_KEY_FILE or ANON_PIPELINE_VAULT_KEY_COMMAND. Set one of them.
    """


@vault.command()
@policy_argument
@partition_option
@click.option(
    "--out",
    required=True,
    type=NEW_FILE,
    help="File to write, for its owner alone.",
)
@_of_a_vault
@json_option
def measured(  # noqa: PLR0913 - the options of a command
    *,
    policy_file: Path,
    partition: str | None,
    out: Path,
    project: Path,
    place: str | None,
    key_names: str,
    as_json: bool,
) -> None:
    """Write what the gate has measured of the last release of POLICY, published or refused, to a file.

    It is computed from the originals and not protected: for the curator, not for publication.
    """
    import json  # noqa: PLC0415

    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.measurements import Measured  # noqa: PLC0415
    from anon_pipeline.vault.artifacts import Vault  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    opened = Vault(_store(project, place), keys_from(prefix=key_names))
    found = Measured(policy, partition, lambda: opened).read()
    write_file(out, json.dumps(found, indent=2, ensure_ascii=False).encode(), what="measured")
    if as_json:
        echo_json({"measured": str(out)})
    else:
        click.echo(f"measured  {out}")


@vault.command()
@policy_argument
@click.option("--out", required=True, type=NEW_FILE, help="CSV file to write, for its owner alone.")
@_of_a_vault
@json_option
def waiting(
    *, policy_file: Path, out: Path, project: Path, place: str | None, key_names: str, as_json: bool
) -> None:
    """Write how many records of a stream came with each partition, had waited, and wait after it, to a file.

    It is counted in the personal data: for the curator, not for publication.
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.vault.artifacts import Vault  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415
    from anon_pipeline.windows.window_states import WindowStates, waiting_counts  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    opened = Vault(_store(project, place), keys_from(prefix=key_names))
    found = waiting_counts(WindowStates(policy.name, lambda: opened, project))
    write_file(out, found.to_csv(index=False).encode(), what="waiting")
    if as_json:
        echo_json({"waiting": str(out)})
    else:
        click.echo(f"waiting  {out}")


@vault.command()
@_of_a_vault
@json_option
def status(project: Path, place: str | None, key_names: str, as_json: bool) -> None:
    """Count the files of the vault by encryption key."""
    from anon_pipeline.vault.artifacts import survey  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415

    keys, store = keys_from(prefix=key_names), _store(project, place)
    found, tracked = survey(store), _count_tracked(store)
    if as_json:
        counts = {"plain": found.plain, "unfinished": found.unfinished, "other": found.other}
        current = None if keys.current is None else keys.current.id
        echo_json({"key": current, "encrypted": dict(found.sealed), **counts, "tracked_by_git": tracked})
        return
    known = keys.readable()
    if keys.current is None:
        click.echo("The vault is not encrypted: no key is set. Only file permissions protect it.")
    else:
        click.echo(f"key         {keys.current.id}")
    for key_id, count in found.sealed.items():
        now = "the key" if keys.current and key_id == keys.current.id else "an old key"
        click.echo(
            f"encrypted   {count} under {key_id} ({now if key_id in known else 'a key not given here'})"
        )
    click.echo(f"plain       {found.plain} (not encrypted)")
    click.echo(f"unfinished  {found.unfinished} (left by a crash)")
    click.echo(f"other       {found.other} (not written by anon-pipeline)")
    if tracked:
        click.echo(f"error: git tracks {tracked} files of the vault. Run git rm -r --cached on it.", err=True)


@vault.command()
@_of_a_vault
@click.option(
    "--old-keys-file",
    type=PATH,
    help="File with old keys, one per line, instead of ANON_PIPELINE_VAULT_OLD_KEYS….",
)
@click.option(
    "--encrypt-plain",
    is_flag=True,
    help="Encrypt plain tables even though the vault has had a key. Check them first: somebody with write "
    "access may have planted them.",
)
@json_option
def rotate(
    project: Path,
    place: str | None,
    key_names: str,
    old_keys_file: Path | None,
    encrypt_plain: bool,
    as_json: bool,
) -> None:
    """Encrypt all data keys again, with the current key of the vault.

    This needs the old keys. In a vault that had no key, tables, memories and draws are encrypted.

    If this is interrupted, run it again. Exit code 2: an artifact is not under the new key.
    """
    from dataclasses import asdict, replace  # noqa: PLC0415

    from anon_pipeline.vault.artifacts import Vault  # noqa: PLC0415
    from anon_pipeline.vault.artifacts import rotate as rotated  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from, keys_in_file  # noqa: PLC0415

    keys = keys_from(prefix=key_names)
    if old_keys_file is not None:
        keys = replace(keys, old=(*keys.old, *keys_in_file(old_keys_file)))
    done = rotated(Vault(_open_own_vault(project, place), keys), encrypt_plain=encrypt_plain)
    if as_json:
        echo_json(asdict(done))
    else:
        click.echo(f"rewrapped   {done.rewrapped}\nbefore      {done.before}\nencrypted   {done.encrypted}")
    if done.refused:
        click.echo(
            f"error: artifacts that no given key opens: {done.refused}. They were left unchanged.", err=True
        )
    if done.plain:
        click.echo(
            f"error: plain artifacts, although the vault has had a key: {done.plain}. Somebody with write "
            f"access may have planted them. Purge them or materialize them again. If they are yours, run "
            f"this with --encrypt-plain.",
            err=True,
        )
    if done.unfinished:
        click.echo(
            f"error: unfinished files, perhaps not encrypted: {done.unfinished}. When no run writes there, "
            f"run this again, or delete them with anon-pipeline vault purge.",
            err=True,
        )
    sys.exit(2 if done.refused or done.plain or done.unfinished else 0)


@vault.command()
@_of_a_vault
@click.option(
    "--older-than",
    "days",
    type=click.FloatRange(min=0),
    required=True,
    metavar="DAYS",
    help="Age of the files.",
)
@json_option
def purge(project: Path, place: str | None, key_names: str, days: float, as_json: bool) -> None:
    """Delete private tables of all releases that are older than DAYS.

    Keys of unpublished draws of that age are deleted, too: the draws are given up, and their ε stays spent.
    """
    del key_names  # deleting needs no key
    import datetime  # noqa: PLC0415

    from anon_pipeline.stages.private import STAGES  # noqa: PLC0415
    from anon_pipeline.vault.retention import purge as purged  # noqa: PLC0415

    before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    deleted = purged(_open_own_vault(project, place), STAGES, before=before)
    if as_json:
        echo_json({"deleted": deleted})
    else:
        click.echo(f"deleted     {deleted}")


@vault.command()
@policy_argument
@project_options
@json_option
def new_people(policy_file: Path, project: Path | None, allow_outside: bool, as_json: bool) -> None:
    """Declare that the source of POLICY now holds other people.

    A memory from a version before 0.2 recognizes people only if their keys are written as they were then. A
    run that recognizes nobody is refused, because all keys may now be written differently. If you can, bring
    the keys into their old form.

    This command allows such a run. People whose keys are written differently then count as new, for
    cross_release_k and for their ε.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.accounting.archive import VaultArchive  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    if policy.record_key is None:
        raise InputError("POLICY must have a record_key: without one there is no memory")
    archive = VaultArchive(policy, locations_of(policy_file, project, outside=allow_outside))
    with archive.alone():
        releases = archive.take_for_others()
    if as_json:
        echo_json({"release": policy.name, "releases_before_0_2": releases})
    else:
        click.echo(f"{policy.name}: releases before 0.2 whose people need not be recognized: {releases}")


def _count_tracked(store: Store) -> int:
    from anon_pipeline.vault.gitindex import tracked_files  # noqa: PLC0415
    from anon_pipeline.vault.local import LocalStore  # noqa: PLC0415

    return tracked_files(store.root) if isinstance(store, LocalStore) else 0


def _open_own_vault(project: Path, place: str | None) -> Store:
    """Open the vault that is about to be changed: the project's, unless another is named (--vault)."""
    from anon_pipeline.vault.identity import refuse_foreign  # noqa: PLC0415

    store = _store(project, place)
    if place is None:
        refuse_foreign(store, project=project.absolute())
    return store


def _store(project: Path, place: str | None) -> Store:
    from anon_pipeline.policy.locations import Locations  # noqa: PLC0415
    from anon_pipeline.vault.store import store_at  # noqa: PLC0415

    return store_at(place or Locations.of(project.absolute()).vault_place)
