"""The ledger and the memory, compared: what one knows the other must know.

A vault that was restored from a backup, or lost, forgets releases that the ledger has; a ledger that was
restored, or exchanged, forgets releases that the memory or the manifests at the destinations name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.ledger import Asked, Ledger
from anon_pipeline.ledger.recovery import must_remember, unknown_releases
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.history.memory import Memory


def manifests_of(root: Path, release: str) -> Iterator[Mapping[str, Any]]:
    """Yield the manifests of a release: at its folder, and at those of its partitions, one level below.

    Args:
        root: folder of the release without a partition.
        release: its name; others, and what cannot be read, are left out.
    """
    below: list[Path] = []
    with suppress(OSError):  # not there, or not to be read: `prepare` says so
        below = sorted(path for path in root.iterdir() if path.is_dir())
    for folder in (root, *below):
        with suppress(PublishError):
            document = read_manifest(folder)
            if document is not None and document.get("release") == release:
                yield document


def noise_in(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a manifest says of the noise; nothing where it is not written as it should be."""
    facts = manifest.get("facts")
    found = facts.get("perturbed") if isinstance(facts, dict) else None
    return found if isinstance(found, dict) else {}


def release_ids_in(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the release ids that manifests name."""
    found = (noise_in(manifest).get("release_id") for manifest in manifests)
    return [release_id for release_id in found if isinstance(release_id, str)]


def refuse_unless_known(ledger: Ledger, release: str, release_ids: list[str]) -> None:
    """Refuse if releases that are out, by manifests or memory, are not in the ledger."""
    missing = unknown_releases(ledger, sorted(set(release_ids)))
    if missing:
        raise InputError(
            f"{len(missing)} published release{'s' * (len(missing) != 1)} of {release} "
            f"{'are' if len(missing) != 1 else 'is'} missing from the ledger: it was restored from a backup, "
            f"deleted, or exchanged for another. Restore the ledger. If you cannot, run anon-pipeline ledger "
            f"adopt POLICY: it records each missing release with its full ε."
        )


def refuse_unless_remembered(ledger: Ledger, asked: Asked, memory: Memory) -> None:
    """Refuse a memory that does not know what the ledger has as published, and the other way round.

    Args:
        memory: of it, held against other runs.
    Raises:
        InputError: with the numbers of releases.
    """
    published = must_remember(ledger, asked)
    by_id = {past.release_id for past in memory.releases}
    older = {(past.digest, past.partition) for past in memory.releases if past.release_id is None}
    lost = [key for key, tables in published.items() if key not in by_id and not tables & older]
    if lost:
        raise InputError(
            f"the vault's memory lacks {len(lost)} of {len(published)} releases of {asked.release} that the "
            f"ledger has as published: it was lost, or restored from a backup. Restore the vault. If you "
            f"cannot, run anon-pipeline ledger forget POLICY: what was published until then is no longer "
            f"judged together with what follows."
        )
    refuse_unless_known(ledger, asked.release, [key for key in by_id if key is not None])
