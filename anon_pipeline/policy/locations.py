"""Where things are in one deployment: the folders that the paths of a policy are relative to."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.places import LOCAL, has_credentials, has_secret_option, is_local, is_url
from anon_pipeline.policy.partition_names import plain_partition
from anon_pipeline.policy.walks import named_paths

__all__ = ["OFF", "PRIVATE", "Locations", "is_url", "plain_ledger", "plain_partition", "plain_vault"]

OFF = "off"
"""Stands for the ledger's URL in a deployment that keeps none."""

PRIVATE = "private"
"""Folder of a project for files with values of the data, which is not under git: a policy names them."""


class _Destination(Protocol):
    @property
    def to(self) -> str | None: ...


class Placed(Protocol):
    """The policy of a release of any kind, as far as it decides where the release goes."""

    @property
    def name(self) -> str:
        """Name of the release."""

    @property
    def publish(self) -> _Destination:
        """Section with the folder of the release."""


@dataclass(frozen=True, slots=True)
class Locations:
    """Folders of a deployment.

    sources: what ``source.path`` and the files of keys are relative to.
    hierarchies: what ``hierarchy.table`` is relative to.
    releases: what ``publish.to`` is relative to.
    vault: private artifacts between the stages.
    remote_vault: URL that fsspec knows, where these are instead; ``vault`` is then not used for them.
    outside: whether the paths of a policy may leave these folders.
    ledger: URL of the database that counts releases, without a password; `OFF`: none is kept.
    project: folder of the project, which remembers its id; None: the vault alone does.
    """

    sources: Path
    hierarchies: Path
    releases: Path
    vault: Path
    remote_vault: str | None = None
    outside: bool = False
    ledger: str = OFF
    project: Path | None = None

    def __post_init__(self) -> None:
        """Refuse URLs: as folders they would be made, or looked for, on this machine."""
        problems = [
            f"the folder of {kind} (ANON_PIPELINE_{kind.upper()}) {LOCAL}"
            for kind in ("sources", "hierarchies", "releases", "vault")
            if not is_local(getattr(self, kind))
        ]
        if problems:
            raise InputError(problems)
        if self.remote_vault is not None:
            plain_vault(self.remote_vault)

    @classmethod
    def of(
        cls, project: Path, environ: Mapping[str, str] | None = None, *, outside: bool = False
    ) -> Locations:
        """Return a project's folders: the project itself and ``vault/`` below it.

        Args:
            environ: ``ANON_PIPELINE_SOURCES``, ``_HIERARCHIES``, ``_RELEASES``, ``_VAULT`` move a folder, the
                last one also to a URL; ``_LEDGER`` is a URL or ``off``; ``ANON_PIPELINE_ALLOW_OUTSIDE=yes``
                lets paths leave; default: the process's environment.
            outside: whether paths may leave, whatever the environment says.
        Raises:
            InputError: the ledger's URL holds a password; a folder that must be local is a URL.
        """
        given = os.environ if environ is None else environ

        def folder(name: str, default: Path) -> Path:
            """Return the folder that the variable of this name gives, else the default one."""
            return Path(given.get(f"ANON_PIPELINE_{name}") or default).absolute()

        vault = given.get("ANON_PIPELINE_VAULT") or ""
        remote = vault if is_url(vault) else None
        return cls(
            sources=folder("SOURCES", project),
            hierarchies=folder("HIERARCHIES", project),
            releases=folder("RELEASES", project),
            vault=folder("VAULT", project / "vault") if remote is None else (project / "vault").absolute(),
            remote_vault=remote,
            outside=outside or given.get("ANON_PIPELINE_ALLOW_OUTSIDE") == "yes",
            ledger=plain_ledger(
                given.get("ANON_PIPELINE_LEDGER") or f"sqlite:///{project.absolute() / 'ledger.sqlite'}"
            ),
            project=project.absolute(),
        )

    @property
    def vault_place(self) -> str:
        """Where private artifacts are: a local folder or a URL."""
        return self.remote_vault or str(self.vault)

    def confine(self, policy: BaseModel, partition: str | None = None) -> None:
        """Refuse a policy whose files lie outside of the folders, symbolic links followed.

        Args:
            policy: all paths that it names, see `policy.walks.named_paths`; ``publish.to`` is refused by
                `release`.
            partition: takes the place of ``{partition}``.
        Raises:
            InputError: every path that leaves its folder.
        """
        if self.outside:
            return
        problems = []
        for named in named_paths(policy):
            folder, path = getattr(self, named.folder), named.path
            if partition is not None:
                path = path.replace("{partition}", plain_partition(partition))
            if named.where != "publish.to" and not _within(folder, folder / path):
                problems.append(f"{named.where}: must stay within the folder of {named.folder}. {_ALLOW}")
        if problems:
            raise InputError(problems)

    def release(self, policy: Placed, partition: str | None = None) -> Path:
        """Return the folder of a release: ``publish.to`` (default ``releases/<name>``), then its partition.

        Raises:
            InputError: a partition that is not the plain name of a folder.
            PublishError: the folder is outside of the folder of releases.
        """
        named = policy.publish.to or f"releases/{policy.name}"
        folder = self.releases / named
        if partition is not None:
            folder /= plain_partition(partition)
        if not self.outside and not _within(self.releases, folder):
            raise PublishError(f"publish.to: must stay within the folder of releases. {_ALLOW}")
        return folder


_ALLOW = "--allow-outside or ANON_PIPELINE_ALLOW_OUTSIDE=yes allows it."


def _within(folder: Path, path: Path) -> bool:
    """Tell whether a path stays below a folder once symbolic links and ``..`` are followed."""
    try:
        return _real(path).is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name too long
        return False


def _real(path: Path) -> Path:
    """Return where a path leads, be it there or not; a loop of links leads nowhere.

    Raises:
        OSError, RuntimeError: a loop of links, before Python 3.13 the latter.
    """
    try:
        return path.resolve(strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
        return path.resolve()


def plain_ledger(url: str) -> str:
    """Return a ledger's URL if it may be shown: Dagster shows what a resource is configured with.

    Raises:
        InputError: it holds a password.
    """
    place, _, query = url.partition("?")
    login = place.partition("://")[2].rpartition("@")[0]
    if ":" in login or has_secret_option(query):
        raise InputError(
            "the ledger's URL must not hold a password. Use PGPASSWORD, or a password file (PGPASSFILE)."
        )
    return url


def plain_vault(place: str) -> str:
    """Return a vault's place, a folder or a URL, if it may be shown: Dagster shows its configuration.

    Raises:
        InputError: it holds credentials, or is neither; without it.
    """
    if is_url(place):
        if has_credentials(place):
            raise InputError(
                "the vault's URL (ANON_PIPELINE_VAULT) must not hold credentials: a login, query or token. "
                "Put them where the package of its kind looks for them (S3: AWS_ACCESS_KEY_ID, a profile)."
            )
    elif not is_local(place):
        raise InputError(f"the vault (ANON_PIPELINE_VAULT) {LOCAL}")
    return place
