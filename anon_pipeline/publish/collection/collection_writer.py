"""Writing a collection: all releases verified, then the page, and last the document that names all of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anon_pipeline.base.disk import clear_parts, replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.size_bounds import COLLECTION_BYTES, read_small
from anon_pipeline.publish.collection.collection_check import linked_releases
from anon_pipeline.publish.collection.collection_document import (
    COLLECTION,
    PAGE,
    SIGNED,
    collection_bytes,
    describe_collection,
    describe_page,
    read_collection,
)
from anon_pipeline.publish.collection.collection_report import report_on_collection
from anon_pipeline.publish.lock import hold_folder, refuse_strange
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.manifest.signatures import sign
from anon_pipeline.publish.release_files import parsed_json
from anon_pipeline.publish.verify.together import Verifications, holds_several, verify_together
from anon_pipeline.publish.verify.verify import Against, Verification, verify_in_detail

_MARK: Final = b'<meta name="generator" content="anon-pipeline collect">'
_HEAD: Final = 1024  # bytes of a page in which its mark stands
_WAIT: Final = 60.0


@dataclass(frozen=True, slots=True)
class Collected:
    """What came of collecting releases.

    found: of each of them, and of all together.
    document: the collection as it was written; None: something was refused, and nothing was written.
    """

    found: Verifications
    document: dict[str, Any] | None


def collect_releases(
    folder: Path,
    against: Against,
    *,
    key: Ed25519PrivateKey | None = None,
    verify: Callable[[Path, Against], Verification] = verify_in_detail,
    observe: Observer = ignore,
    jobs: int = 1,
) -> Collected:
    """Verify all releases in a folder, and write its collection if none of them is refused.

    Args:
        folder: of folders of releases.
        against: policy and key of all of them, where there are any.
        key: to sign with; the releases must be signed with it, too. None: the collection is not signed.
        verify, observe, jobs: see `verify_together`.
    Raises:
        InputError: the folder has no releases, or has a release of its own; a file there is in the way; a
            release is a link, or was made again meanwhile; the folder cannot be written.
        PublishError: another process holds the folder.
    """
    if not folder.is_dir():
        raise InputError("the folder of releases must be there, got none")
    if not holds_several(folder):
        raise InputError("the folder must hold folders of releases, and no release of its own")
    _refuse_others(folder)
    if key is None and _is_signed(folder):
        raise InputError(
            f"the {COLLECTION} in the folder is signed, and would be replaced by one that is not. Give "
            "--policy with the policy that signs, or move it away"
        )
    if against.policy is None:
        _refuse_fewer(folder)
    against = against if key is None else replace(against, key=key.public_key())
    found = verify_together(folder, against, verify=verify, observe=observe, jobs=jobs)
    if found.refused:
        return Collected(found, None)
    if linked := linked_releases(folder, found):
        raise InputError(f"releases must not be links, {len(linked)} are. Move them into the folder.")
    document = describe_collection(found)
    page = report_on_collection(folder, document)
    document["report"] = describe_page(page)
    final = document if key is None else sign(document, key, SIGNED)
    _write(folder, page, collection_bytes(final))
    return Collected(found, final)


def _refuse_fewer(folder: Path) -> None:
    """Refuse to replace a collection by one that lacks a release of it, if no policy lists the releases."""
    document = None
    with suppress(InputError):  # a broken one lists nothing that could be kept
        document = read_collection(folder)
    listed = [] if document is None else [part["folder"] for part in document["parts"]]
    gone = sum(not (folder / name / MANIFEST).exists() for name in listed)
    if gone:
        raise InputError(
            f"the {COLLECTION} in the folder lists releases that are not there, {gone} of {len(listed)}. "
            "Restore them, give --policy with the policy that lists them, or move the file away"
        )


def _write(folder: Path, page: bytes, data: bytes) -> None:
    """Write page and collection, in this order: what the collection names is there."""
    try:
        refuse_strange(folder)
        with hold_folder(folder, wait=_WAIT):
            clear_parts(folder)
            replace_file(folder / PAGE, page, mode=0o644, what="report")
            replace_file(folder / COLLECTION, data, mode=0o644, what="collection")
    except OSError as error:
        raise InputError(f"the folder must be one that can be written: {error_words(error)}") from None


def _refuse_others(folder: Path) -> None:
    """Refuse to replace files that are no collection and no page of one, before any work is done."""
    for name, is_ours in ((COLLECTION, _is_collection), (PAGE, _is_page)):
        path = folder / name
        if (path.exists() or path.is_symlink()) and not is_ours(path):
            raise InputError(f"{name} in the folder is not of anon-pipeline collect. Move it away.")


def _is_page(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_HEAD)


def _is_signed(folder: Path) -> bool:
    """Tell whether a folder has a collection with a signature, whosever it is."""
    path = folder / COLLECTION
    return path.exists() and "signature" in parsed_json(read_small(path, COLLECTION_BYTES) or b"{}")


def _is_collection(path: Path) -> bool:
    """Tell whether a file is a collection, of whatever version and content."""
    with suppress(OSError, ValueError, RecursionError):
        if not path.is_symlink():
            document = parsed_json(read_small(path, COLLECTION_BYTES) or b"")
            return isinstance(document, dict) and "collection_version" in document
    return False
