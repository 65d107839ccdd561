"""Whether the releases in a folder are those of its collection: none missing, added or exchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.size_bounds import REPORT_BYTES, read_small
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.publish.collection.collection_document import (
    COLLECTION,
    PAGE,
    SIGNED,
    part_row,
    read_collection,
    this_version,
)
from anon_pipeline.publish.collection.collection_report import report_on_collection
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.manifest.signatures import broken_signature
from anon_pipeline.publish.verify.together import Together, Verifications, verify_together
from anon_pipeline.publish.verify.verify import Against, Verification, verify_in_detail
from anon_pipeline.publish.verify.verify_files import unmeasured_verdict, verdict_on_list

NAME: Final = "collection"
"""Of the verdict."""
AGAIN: Final = "if you did this, the collection is out of date: run anon-pipeline collect again"
_NAMED: Final = 5  # of the folders that are named in a verdict
_ADDED: Final = ("policies", "records", "released")
_COUNTED: Final = ("classes", "smallest", "shared")


def is_collected(folder: Path) -> bool:
    """Tell whether a folder is of no release, and has a collection, perhaps without its releases."""
    return folder.is_dir() and not (folder / MANIFEST).exists() and (folder / COLLECTION).exists()


def verify_collection(
    folder: Path,
    against: Against,
    *,
    verify: Callable[[Path, Against], Verification] = verify_in_detail,
    observe: Observer = ignore,
    jobs: int = 1,
) -> Verifications:
    """Verify the releases in a folder as `verify_together` does, and compare them with its collection."""
    found = verify_together(folder, against, verify=verify, observe=observe, jobs=jobs)
    return replace(found, collection=check_collection(folder, found, against.key))


def check_collection(folder: Path, found: Verifications, key: Ed25519PublicKey | None) -> Verdict:
    """Judge whether releases that were verified are those that the collection of their folder lists.

    Args:
        key: that must have signed it; None: a signature is not looked at.
    """
    try:
        document = read_collection(folder)
    except InputError as error:
        return verdict_on_list(NAME, [str(error)])
    if document is None:
        return unmeasured_verdict(NAME, f"there is no {COLLECTION}; anon-pipeline collect writes it")
    problems = [] if key is None else [broken_signature(document, key, SIGNED)]
    others = list(_other_releases(folder, document, found))
    others += [] if others else list(_wrong_rows(document, found))
    problems += [*others, *([AGAIN] if others else [])]
    if not others and not found.refused_releases:
        problems += _wrong_sums(document["together"], found.together)
    problems.append(_wrong_page(folder, document, remade=not any(problems) and not found.refused_releases))
    wrong = [problem for problem in problems if problem]
    return verdict_on_list(NAME, wrong) if wrong else _verdict_passed(document, found, key)


def _verdict_passed(
    document: Mapping[str, Any], found: Verifications, key: Ed25519PublicKey | None
) -> Verdict:
    """Return the verdict on a collection that nothing contradicts, with what was not compared."""
    open_ones = []
    if key is None:
        signed = "signature" in document
        open_ones.append("its signature needs --public-key" if signed else "it is not signed")
    if document["anon_pipeline"] != this_version():
        open_ones.append(f"another version made {PAGE}, of which only the digest was compared")
    if found.refused_releases:
        open_ones.append("sums were not compared")
    return Verdict(NAME, Status.PASSED, reason="; ".join(open_ones) or None)


def _other_releases(folder: Path, document: Mapping[str, Any], found: Verifications) -> Iterator[str]:
    """Yield how the releases differ from those that are listed."""
    listed = {part["folder"]: part["manifest_sha256"] for part in document["parts"]}
    there = [name for name in listed if name in found.digests]
    differences = (
        ("listed and not there", [name for name in listed if name not in found.digests]),
        ("there and not listed", [name for name in found.digests if name not in listed]),
        (
            "of another manifest than is listed",
            [name for name in there if listed[name] != found.digests[name]],
        ),
        ("behind a link", [name for name in there if _is_linked(folder / name)]),
    )
    for what, names in differences:
        if names:
            yield f"{len(names)} release{'s' * (len(names) != 1)} {what}: {_names(names)}"


def _is_linked(place: Path) -> bool:
    """Tell whether the folder of a release or its manifest is a link, which may lead elsewhere tomorrow."""
    return place.is_symlink() or (place / MANIFEST).is_symlink()


def linked_releases(folder: Path, found: Verifications) -> list[str]:
    """Return the names of releases that are links."""
    return [name for name in found.each if _is_linked(folder / name)]


def _wrong_rows(document: Mapping[str, Any], found: Verifications) -> Iterator[str]:
    """Yield that the list says something else of a release than its manifest."""
    wrong = [
        part["folder"]
        for part in document["parts"]
        if part["folder"] not in found.parts or part != part_row(found, part["folder"])
    ]
    if wrong:
        yield f"it does not say what the manifests say of {_names(wrong)}"
    names = {part["release"] for part in document["parts"]}
    if document["release"] != (next(iter(names)) if len(names) == 1 else None):
        yield "it has another name than its releases"


def _wrong_sums(told: Mapping[str, Any] | None, now: Together | None) -> list[str]:
    """Say whether the sums are not those of the releases; classes are compared where both counted them."""
    wrong = ["its sums are not those of the releases"]
    if told is None or now is None:
        return [] if told is None and now is None else wrong
    lacking = sum(told[key] is None for key in _COUNTED)
    if lacking not in (0, len(_COUNTED)):
        return wrong
    compared = (*_ADDED, *(() if lacking or now.classes is None else _COUNTED))
    return [] if all(told[key] == getattr(now, key) for key in compared) else wrong


def _wrong_page(folder: Path, document: Mapping[str, Any], *, remade: bool) -> str | None:
    """Say whether the page is not the one that the collection names, or says something else.

    Args:
        remade: whether to make it again and compare, which takes the version that made it.
    """
    path, item = folder / PAGE, document["report"]
    try:
        if path.is_symlink():
            return f"{PAGE} must be a plain file, got a link"
        data = read_small(path, min(item["size"], REPORT_BYTES))
    except OSError as error:
        return f"{PAGE} must be the page that it names: {error_words(error)}"
    if data is None or (len(data), hashlib.sha256(data).hexdigest()) != (item["size"], item["sha256"]):
        return f"{PAGE} is not the page that it names: its SHA-256 is another"
    if remade and document["anon_pipeline"] == this_version():
        try:
            if report_on_collection(folder, document) != data:
                return f"{PAGE} does not say what the manifests say"
        except InputError as error:
            return str(error)
    return None


def _names(names: Sequence[str]) -> str:
    """Name the first few folders."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(name if is_plain(name) else "a name with signs" for name in names[:_NAMED]) + more
