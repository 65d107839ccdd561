"""Commands on the vault: `vault status`, `vault rotate`, `vault purge`, `vault new-people`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.shared import allow_outside_option, locations_of, project_option

if TYPE_CHECKING:
    from anon_pipeline.vault.store import Store


_place_options = (
    click.option(
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=Path(),
        show_default="this folder",
        help="Project whose vault it is: the one in vault/, or where ANON_PIPELINE_VAULT says.",
    ),
    click.option("--vault", "place", help="Another vault: a folder, or a URL that fsspec knows."),
    click.option(
        "--key-names",
        default="ANON_PIPELINE_VAULT",
        show_default=True,
        help="Beginning of the environment variables' names: …_KEY, …_KEY_FILE, …_KEY_COMMAND, …_OLD_KEYS….",
    ),
)


def _of_a_vault(command: click.decorators.FC) -> click.decorators.FC:
    """Add the options that say which vault, and which keys."""
    for option in reversed(_place_options):
        command = option(command)
    return command


@click.group()
def vault() -> None:
    """Manage private tables between stages: encryption, keys, deletion.

    The key is in the environment: ANON_PIPELINE_VAULT_KEY (32 bytes in base64 or hexadecimal),
    ANON_PIPELINE_VAULT_KEY_FILE or ANON_PIPELINE_VAULT_KEY_COMMAND. Set one of them.
    """


@vault.command()
@_of_a_vault
def status(project: Path, place: str | None, key_names: str) -> None:
    """Count the files of the vault by encryption key."""
    from anon_pipeline.vault.artefacts import survey  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415

    keys, store = keys_from(prefix=key_names), _store(project, place)
    found, tracked = survey(store), _tracked(store)
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
    type=click.Path(path_type=Path),
    help="File with old keys, one per line, instead of ANON_PIPELINE_VAULT_OLD_KEYS….",
)
@click.option(
    "--encrypt-plain",
    is_flag=True,
    help="Encrypt plain tables although the vault was written with a key before. Who can write there may "
    "have planted them: look first.",
)
def rotate(
    project: Path, place: str | None, key_names: str, old_keys_file: Path | None, encrypt_plain: bool
) -> None:
    """Encrypt all data keys anew, with the current key of the vault.

    The old keys are needed to open them.

    A vault that was begun without a key is encrypted: tables, memories and draws. Interrupted, it can be run
    again. Exit code 2 if an artifact is left that is not under the new key.
    """
    from dataclasses import replace  # noqa: PLC0415

    from anon_pipeline.vault.artefacts import Vault  # noqa: PLC0415
    from anon_pipeline.vault.artefacts import rotate as rotated  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from, keys_in_file  # noqa: PLC0415

    keys = keys_from(prefix=key_names)
    if old_keys_file is not None:
        keys = replace(keys, old=(*keys.old, *keys_in_file(old_keys_file)))
    done = rotated(Vault(_open_own_vault(project, place), keys), encrypt_plain=encrypt_plain)
    click.echo(f"rewrapped   {done.rewrapped}\nbefore      {done.before}\nencrypted   {done.encrypted}")
    if done.refused:
        click.echo(
            f"error: {done.refused} do not open with a key given here. They were left as they are.", err=True
        )
    if done.plain:
        click.echo(
            f"error: {done.plain} are not encrypted, though the vault was written with a key before: "
            f"somebody with write access may have put them there. Purge or materialize them again; if they "
            f"are yours, run this with --encrypt-plain.",
            err=True,
        )
    if done.unfinished:
        click.echo(
            f"error: {done.unfinished} unfinished are left, and may be plain. Once no run is writing there, "
            f"run this again, or delete them: anon-pipeline vault purge.",
            err=True,
        )
    sys.exit(2 if done.refused or done.plain or done.unfinished else 0)


@vault.command()
@_of_a_vault
@click.option("--older-than", "days", type=click.FloatRange(min=0), required=True, metavar="DAYS")
def purge(project: Path, place: str | None, key_names: str, days: float) -> None:
    """Delete private tables of all releases that are older than DAYS.

    The age is that of the file.

    Keys of draws that were not published are deleted, too: the draws are given up, and their ε stays spent.
    """
    del key_names  # deleting needs no key
    import datetime  # noqa: PLC0415

    from anon_pipeline.stages.private import STAGES  # noqa: PLC0415
    from anon_pipeline.vault.retention import purge as purged  # noqa: PLC0415

    before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    click.echo(f"deleted     {purged(_open_own_vault(project, place), STAGES, before=before)}")


@vault.command()
@click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))
@project_option
@allow_outside_option
def new_people(policy_file: Path, project: Path | None, allow_outside: bool) -> None:
    """Declare that the source of POLICY now holds other people.

    For a memory that was begun by a version before 0.2: it knows people by their keys as these were written
    then. If it recognizes nobody, a run is refused, because all keys may be written in another way; after
    this command it is not. People who are in both and whose keys are written in another way count as new from
    then on, for cross_release_k and for their ε. To bring the keys into their old form is always better.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.archive import VaultArchive  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    if policy.record_key is None:
        raise InputError("POLICY must have a record_key: without one there is no memory")
    archive = VaultArchive(policy, locations_of(policy_file, project, outside=allow_outside))
    with archive.alone():
        releases = archive.take_for_others()
    click.echo(f"{policy.name}: releases before 0.2 whose people need not be recognized: {releases}")


def _tracked(store: Store) -> int:
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
