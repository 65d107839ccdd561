"""The texts in an auditor's bundle: what is in it, what to run to check it, versions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anon_pipeline.gate import GateReport, Status

README, RELEASE, POLICY, LEDGER, VERSIONS = (
    "README.txt",
    "release",
    "policy.yaml",
    "ledger.jsonl",
    "versions.txt",
)
"""Names in a bundle."""


def versions(document: Mapping[str, Any]) -> bytes:
    """Return the packages that made a release, as pip reads them; Python and plugins are comments."""
    packages, plugins = document.get("packages", {}), document.get("plugins", {})
    lines = [f"# python {packages['python']}"] if "python" in packages else []
    lines += [f"# plugin {name}" for name in sorted(plugins)]
    lines += [f"{name}=={version}" for name, version in sorted(packages.items()) if name != "python"]
    return ("\n".join(lines) + "\n").encode()


def readme(
    document: Mapping[str, Any],
    files: Mapping[str, bytes],
    checked: GateReport,
    left_out: Sequence[str],
    *,
    signed: bool,
) -> bytes:
    """Say what is in a bundle, and what to run.

    Args:
        files: the others of the bundle.
        checked: verdicts of `verify` where it is unpacked.
        left_out: hierarchy tables that are not packed.
        signed: whether the manifest has a signature.
    """
    paragraphs = [
        f"Release {document['release']}, made at {document.get('made_at')}: a bundle for an auditor.",
        *_how(document, signed=signed),
        *_limits(checked, left_out),
        _ledger(LEDGER in files),
        "Files, with their SHA-256:\n" + "\n".join(_digests(files)),
    ]
    return ("\n\n".join(paragraphs) + "\n").encode()


def _how(document: Mapping[str, Any], *, signed: bool) -> Iterator[str]:
    version = document.get("packages", {}).get("anon-pipeline")
    wanted = "anon-pipeline" if version is None else f"anon-pipeline=={version}"
    yield (
        f"To check it: unpack it into an empty folder and run there\n\n"
        f"    python3 -m venv .venv\n"
        f"    .venv/bin/pip install --constraint {VERSIONS} {wanted}\n"
        f"    .venv/bin/anon-pipeline verify {RELEASE} --policy {POLICY} --project .\n\n"
        f"If no package index has {wanted}, give pip the folder of its source code instead of its name."
    )
    yield (
        "It recomputes all digests, judges the data file by the policy's limits, and ends with exit code 0 "
        "if nothing is refused. It lists what it cannot check."
    )
    if signed:
        yield (
            "The manifest is signed. Get the public key from its owner, not from here, and add --public-key "
            "KEY.pub to the command."
        )


def _limits(checked: GateReport, left_out: Sequence[str]) -> Iterator[str]:
    passed = len(checked.with_status(Status.PASSED)) + len(checked.with_status(Status.WARNED))
    yield f"This bundle was verified so before it was written: {passed} checks passed, none was refused."
    open_ = checked.with_status(Status.UNMEASURED)
    if open_:
        lines = "\n".join(f"* {verdict.limit}: {verdict.reason}" for verdict in open_)
        yield (
            "Not checked, because the bundle does not contain what is needed (the originals, for "
            f"example):\n{lines}"
        )
    if left_out:
        yield (
            "Not packed are the hierarchy tables of the policy: they can hold values that nobody released "
            f"has. Ask for them, and put them here: {', '.join(left_out)}"
        )


def _ledger(packed: bool) -> str:
    if not packed:
        return "No extract of a ledger is in it."
    return (
        f"{LEDGER} has the ledger's events of this release and of its dataset, a line each. Each `hash` is "
        "the SHA-256 of the event's canonical JSON (keys sorted, ASCII, no spaces) without `hash`, and of "
        "checkpoint, partition_kind, memory, note, rows_digest, source_columns without those that are null. "
        "That no event is missing only the whole ledger shows: anon-pipeline ledger verify."
    )


def _digests(files: Mapping[str, bytes]) -> Iterator[str]:
    for name, data in sorted(files.items()):
        yield f"{hashlib.sha256(data).hexdigest()}  {name}"
