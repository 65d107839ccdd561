"""The manifest: what a release is, how it was made, what it promises; never a value of the data.

Decision: docs/adr/0004-the-manifest-is-the-pointer.md.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import metadata
from typing import Any

from anon_pipeline.base.audience import Audience
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.extensions import plugins_of
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.stages.facts.audience import facts_seen_by
from anon_pipeline.stages.facts.records import Facts

MANIFEST = "manifest.json"
BESIDE = {"policy": "json", "report": "html"}
"""Files published with the data file, by their key in the manifest: the ending of the file's name."""
VERSION = 2
"""Of manifests that are written from now on; 0.1.0 wrote version 1, see `publish.version_1.version_1`."""
_PACKAGES = (
    "anon-pipeline",
    "dagster",
    "great-expectations",
    "numba",
    "numpy",
    "pandas",
    "pandera",
    "pyarrow",
)
RECORDED = ("python", *_PACKAGES)
"""Names under ``packages``; each with its version."""


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """One file of a release: its name, its SHA-256, its size in bytes, its records.

    types: Arrow's name of each column's type; a CSV does not say them itself.
    """

    name: str
    sha256: str
    size: int
    records: int
    types: Mapping[str, str] | None = None


def manifest(
    policy: Policy,
    report: GateReport,
    facts: Facts,
    *,
    files: Sequence[ReleaseFile],
    made: tuple[datetime, str | None],
) -> dict[str, Any]:
    """Describe a release.

    Args:
        policy: what it was made by; named by digest.
        report: the gate's verdicts on the table in ``files``.
        facts: of every stage; only the public ones are written.
        made: time (with its zone) and partition.
    Returns:
        JSON types only.
    """
    when, partition = made
    plugins = plugins_of(policy)
    return {
        "manifest_version": VERSION,
        "release": policy.name,
        "partition": partition,
        "made_at": when.isoformat(timespec="seconds"),
        "files": [{**asdict(file), "format": policy.publish.format} for file in files],
        "policy_digest": policy.digest,
        "data_digest": report.data_digest,
        "gate": report.to_json(),
        "epsilon": policy.promised_epsilon,
        "guarantee": guarantee(policy),
        "allowed": policy.allowed,
        "acknowledged": policy.answered_for,
        "facts": facts_seen_by(facts, Audience.PUBLIC),
        "packages": recorded_packages(),
        **({"plugins": plugins} if plugins else {}),
    }


def recorded_packages() -> dict[str, str]:
    """Return the versions of Python and of the packages that a release is made with."""
    return {"python": platform.python_version(), **_versions()}


def _versions() -> Mapping[str, str]:
    found = {distribution: _version(distribution) for distribution in _PACKAGES}
    return {name: version for name, version in found.items() if version is not None}


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
