"""The page of a collection from the manifests in its folder, which must be those that were verified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.publish.collection.collection_document import without_page
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.release_files import parsed_json
from anon_pipeline.report.collection_figures import collection_figures
from anon_pipeline.report.collection_page import collection_page


def report_on_collection(folder: Path, document: Mapping[str, Any]) -> bytes:
    """Make the page about a collection.

    Args:
        folder: with the releases, all of which were verified.
        document: the collection, with the digests of the manifests that were verified.
    Raises:
        InputError: a manifest is another one by now.
    """
    return collection_page(without_page(document), collection_figures(_manifests(folder, document)))


def _manifests(folder: Path, document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the manifests, one at a time, if they are those of the collection."""
    for part in document["parts"]:
        try:
            data = read_small(folder / part["folder"] / MANIFEST, MANIFEST_BYTES) or b""
        except OSError as error:
            raise InputError(f"{part['folder']}: {MANIFEST} cannot be read: {error_words(error)}") from None
        if hashlib.sha256(data).hexdigest() != part["manifest_sha256"]:
            raise InputError(f"{part['folder']} was made again meanwhile. Run the command again.")
        yield part["folder"], parsed_json(data.decode("utf-8"))
