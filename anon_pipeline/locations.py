"""Where things are in one deployment: the folders that the paths of a policy are relative to.

Belongs here: defaults below a project and the environment variables that move them. Does not belong here:
reading or writing any of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anon_pipeline.errors import InputError
from anon_pipeline.policy.model import Policy

__all__ = ["OFF", "Locations", "plain_ledger", "plain_partition", "project_root"]

OFF = "off"
"""Stands for the ledger's URL in a deployment that keeps none."""


@dataclass(frozen=True, slots=True)
class Locations:
    """Folders of a deployment.

    sources: what ``source.path`` and ``deidentify.key_file`` are relative to.
    hierarchies: what ``hierarchy.table`` is relative to.
    releases: what ``publish.to`` is relative to.
    vault: private artefacts between the stages.
    ledger: URL of the database that counts releases, without a password; `OFF`: none is kept.
    """

    sources: Path
    hierarchies: Path
    releases: Path
    vault: Path
    ledger: str

    @classmethod
    def of(cls, project: Path, environ: Mapping[str, str] | None = None) -> Locations:
        """Return a project's folders: the project itself and ``vault/`` below it.

        Args:
            project: folder of the project.
            environ: ``ANON_PIPELINE_SOURCES``, ``_HIERARCHIES``, ``_RELEASES``, ``_VAULT`` move a folder,
                ``_LEDGER`` is a URL or ``off``; default: the process's environment.
        Raises:
            InputError: the ledger's URL holds a password.
        """
        given = os.environ if environ is None else environ

        def at(name: str, default: Path) -> Path:
            return Path(given.get(f"ANON_PIPELINE_{name}") or default).absolute()

        return cls(
            sources=at("SOURCES", project),
            hierarchies=at("HIERARCHIES", project),
            releases=at("RELEASES", project),
            vault=at("VAULT", project / "vault"),
            ledger=plain_ledger(
                given.get("ANON_PIPELINE_LEDGER") or f"sqlite:///{project.absolute() / 'ledger.sqlite'}"
            ),
        )

    def release(self, policy: Policy, partition: str | None = None) -> Path:
        """Return the folder of a release: ``publish.to`` (default ``releases/<name>``), then its partition.

        Raises:
            InputError: a partition that is not the plain name of a folder.
        """
        folder = self.releases / (policy.publish.to or f"releases/{policy.name}")
        return folder if partition is None else folder / plain_partition(partition)


def plain_ledger(url: str) -> str:
    """Return a ledger's URL if it may be shown: Dagster shows what a resource is configured with.

    Raises:
        InputError: it holds a password.
    """
    place, _, query = url.partition("?")
    login = place.partition("://")[2].rpartition("@")[0]
    if ":" in login or "password" in query.lower():
        raise InputError(
            "the ledger's URL must not hold a password. Use PGPASSWORD, or a password file (PGPASSFILE)."
        )
    return url


def plain_partition(partition: str) -> str:
    """Return a partition's key if it can name a folder and nothing else.

    Raises:
        InputError: it has other characters than letters, digits, ``-``, ``_``, ``:`` and single points.
    """
    if not re.fullmatch(r"[A-Za-z0-9_:-]+(\.[A-Za-z0-9_:-]+)*", partition):
        raise InputError("a partition must be a plain name (letters, digits, - _ : .), got another")
    return partition


def project_root(policy_file: Path) -> Path:
    """Return the project that a policy file belongs to.

    It is the nearest folder above with a ``pyproject.toml`` or ``dg.toml``, else the file's own folder.
    """
    folder = policy_file.absolute().parent
    for candidate in (folder, *folder.parents):
        if any((candidate / name).is_file() for name in ("pyproject.toml", "dg.toml")):
            return candidate
    return folder
