"""Delivering: a release that is published in its folder is copied to where its readers are.

The folder stays the place of truth: the gate judges there, and the ledger books what is there. Delivering
draws nothing, books nothing, and can be repeated: it reads the folder, checks digests, and sends the bytes.

Decision: docs/adr/0059-destinations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from anon_pipeline.base.errors import InputError, PublishError, error_words
from anon_pipeline.base.left_to_do import said_if_ended
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.unfit_columns import Columns
from anon_pipeline.publish.expected_columns import expected_columns
from anon_pipeline.publish.lock import hold_folder
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.release_files import is_file_beside, manifest_of, read_bytes
from anon_pipeline.publish.verify.withdrawn import withdrawal_of
from anon_pipeline.stages.private import Staged

KEY = "publish.deliver"
_EXAMPLE = (
    "publish: {deliver: {database_env: SHOP_URL, table: visits}}, with the environment variable "
    "SHOP_URL=sqlite:///shop.db, a file that exists (docs/destinations.md)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Parcel:
    """A published release as it is sent.

    document: its manifest, read.
    manifest: its manifest's bytes as they lie in the folder: a signature stays valid.
    files: bytes of data file, report and public policy, by name.
    """

    document: Mapping[str, Any]
    manifest: bytes = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)


class Destination(Protocol):
    """A place that a release is delivered to."""

    def ready(self) -> None:
        """Refuse a place that cannot take the release; what is tried there is undone.

        Raises:
            PublishError: it is not reachable, holds something else, or may not be written.
        """

    def refuse_unfit(self, columns: Columns) -> None:
        """Refuse columns that it could not hold, also before their noise is drawn.

        Raises:
            PublishError: naming the columns, and what to do; or as `ready`.
        """

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Tell whether it says that readers see the release of a manifest; no record is compared.

        Raises:
            PublishError: as `ready`.
        """

    def deliver(self, parcel: Parcel) -> None:
        """Bring the release there: readers see the one before, or this one, complete.

        Raises:
            PublishError: it failed; readers see the one before, unless the error says otherwise.
        """


def destination_of(policy: Policy, locations: Locations, partition: str | None) -> Destination | None:
    """Return where a policy's release is delivered to; None: nowhere.

    Raises:
        PublishError: its variable is not set, its package is not installed, or the place is private.
    """
    deliver = policy.publish.deliver
    if deliver is None:
        return None
    try:
        opened: Destination = import_entry(DESTINATIONS[deliver.kind].opens)(policy, locations, partition)
    except InputError as error:
        raise PublishError(error.problems) from None
    return opened


def refuse_undeliverable(policy: Policy, locations: Locations, *, partition: str | None = None) -> None:
    """Refuse a release that could not be delivered, before anything is drawn.

    Raises:
        PublishError: see `Destination.ready`.
    """
    destination = destination_of(policy, locations, partition)
    if destination is not None:
        destination.ready()


def refuse_unfit_columns(
    policy: Policy, locations: Locations, partition: str | None, recoded: Staged
) -> None:
    """Refuse columns that the destination could not hold, as far as they are known, before noise is drawn.

    Args:
        recoded: the table of `k_anonymized`.
    Raises:
        PublishError: see `Destination.refuse_unfit`.
    """
    destination = destination_of(policy, locations, partition)
    if destination is None:
        return
    try:
        destination.refuse_unfit(expected_columns(policy, recoded.frame))
        return
    except PublishError as error:
        problems = error.problems
    raise PublishError([*problems, "No noise was drawn, and no ε was spent."])


def deliver_release(policy: Policy, locations: Locations, *, partition: str | None = None) -> dict[str, Any]:
    """Deliver the release that lies in the policy's folder; nothing is drawn, booked or judged again.

    Returns:
        Its manifest.
    Raises:
        InputError: the policy delivers nowhere, there is no release, its files are not the manifest's, or the
            ledger has it as withdrawn.
        PublishError: the destination could not be written.
    """
    refuse = partial(_refuse_withdrawn, locations)
    with said_if_ended(f"The delivery is not complete. To finish it, at no cost: {_command(partition)}"):
        return _deliver(policy, locations, partition, refuse=refuse)


def _command(partition: str | None) -> str:
    return f"anon-pipeline deliver POLICY.yaml{'' if partition is None else f' --partition {partition}'}"


def _refuse_withdrawn(locations: Locations, document: Mapping[str, Any]) -> None:
    if withdrawal_of(document, locations.ledger) is not None:
        raise InputError(f"{MANIFEST}: must not be of a release that was withdrawn. Remove its files.")


def _deliver(
    policy: Policy,
    locations: Locations,
    partition: str | None,
    *,
    refuse: Callable[[Mapping[str, Any]], None],
) -> dict[str, Any]:
    folder = locations.release(policy, partition)
    destination = destination_of(policy, locations, partition)
    if destination is None:
        raise InputError(
            f"{KEY}: must be set in the policy, which delivers its release nowhere. For example {_EXAMPLE}"
        )
    manifest_of(folder / MANIFEST)  # a folder without a release has no lock to hold
    try:
        with hold_folder(folder, wait=policy.publish.wait):
            parcel = _pack(folder, policy, partition)
            refuse(parcel.document)
            destination.ready()
            destination.deliver(parcel)
    except OSError as error:
        raise InputError(
            f"the folder of the release must be readable and hold it: {error_words(error)}"
        ) from None
    return dict(parcel.document)


def deliver_published(policy: Policy, locations: Locations, *, partition: str | None = None) -> None:
    """Deliver a release that was just published; say of a failure that the release is out, and paid for.

    Raises:
        PublishError: ``in_place``; with what to do.
    """
    if policy.publish.deliver is None:
        return
    problems: tuple[str, ...] = ()
    try:
        with said_if_ended(
            f"The release is published in its folder, and booked; its delivery is not complete. Do not run "
            f"it again, which draws new noise. To finish it, at no cost: {_command(partition)}"
        ):
            _deliver(policy, locations, partition, refuse=lambda document: None)
    except (InputError, PublishError) as error:
        problems = error.problems
    if problems:
        raise PublishError(
            [
                *problems,
                "The release is published in its folder, and booked; it was not delivered. Do not run it "
                "again, which draws new noise: anon-pipeline deliver brings it there at no cost.",
            ],
            in_place=True,
        )


def _pack(folder: Path, policy: Policy, partition: str | None) -> Parcel:
    """Read a release and check it against its manifest.

    Raises:
        InputError: it is another policy's or partition's, or a file is not the one that the manifest names.
    """
    data = read_small(folder / MANIFEST, MANIFEST_BYTES)
    document = manifest_of(folder / MANIFEST)
    if data is None or (document["release"], document.get("partition")) != (policy.name, partition):
        raise InputError(
            f"{MANIFEST}: must be of the release {policy.name} and of the partition that is asked for"
        )
    beside = {part: document[part] for part in BESIDE if part in document}
    if wrong := [part for part, item in beside.items() if not is_file_beside(item, BESIDE[part])]:
        raise InputError(f"{MANIFEST}: must name {' and '.join(wrong)} with digest and size")
    files = {}
    for item in (*document["files"], *beside.values()):
        try:
            limits = Limits(file_bytes=max(int(item["size"]), 1))
            files[item["name"]] = read_bytes(folder / item["name"], item, limits)
        except InputError as error:
            raise InputError(f"{item['name']}: {error}") from None
    return Parcel(document, data, files)


def is_later(before: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Tell whether a manifest was made after another one; times that cannot be read are not compared."""
    when: Callable[[Any], datetime] = datetime.fromisoformat
    with suppress(KeyError, ValueError, TypeError):
        return when(before["made_at"]) > when(document["made_at"])
    return False
