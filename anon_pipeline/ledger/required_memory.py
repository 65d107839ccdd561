"""Which releases the memory must know, by the events: a memory that was lost or rolled back shows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anon_pipeline.ledger.chain import Event
from anon_pipeline.ledger.requests import Asked


def required_memory(events: Iterable[Event], asked: Asked) -> dict[str, set[tuple[str, str | None]]]:
    """Return what the memory of a release must know.

    That is what was published under its name and dataset with a memory, since a memory was last given up:
    withdrawn releases too, because they were seen. Events before version 4 do not say whether there was a
    memory: those with the same ``making`` had one, because it contains the ``record_key``.

    Args:
        events: of the ledger, verified, in their order.
    Returns:
        By release id its tables: digest and partition.
    """
    published: dict[str, set[tuple[str, str | None]]] = {}
    for event in events:
        if (event.dataset, event.release) != (asked.dataset, asked.release):
            continue
        if event.event == "forgotten":
            published.clear()
        kept = event.memory is not None or event.making == asked.making
        if event.event == "published" and event.data_digest is not None and kept:
            published.setdefault(event.release_id, set()).add((event.data_digest, event.partition))
    return published


def named_by(manifest: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """Return the release id and the data digest that a manifest names."""
    facts = (manifest or {}).get("facts")
    perturbed = facts.get("perturbed") if isinstance(facts, dict) else None
    found = perturbed.get("release_id") if isinstance(perturbed, dict) else None
    digest = (manifest or {}).get("data_digest")
    both = isinstance(found, str) and isinstance(digest, str)
    return (found, digest) if both else (None, None)
