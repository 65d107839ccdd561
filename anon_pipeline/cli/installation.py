"""What of an installation is as it should be: keys, permissions, versions, Dagster's folder, numba's cache.

Belongs here: the table of checks; none of them opens a private table, a ledger or a network. Does not belong
here: showing what they find (`cli.doctoring`).
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import yaml
from packaging.requirements import Requirement

from anon_pipeline.base.errors import AnonPipelineError, error_words
from anon_pipeline.base.scratch import SCRATCH
from anon_pipeline.catalog.plugins import VARIABLE, allowed_names, installed_plugins
from anon_pipeline.policy.locations import OFF, PRIVATE, Locations
from anon_pipeline.vault.artifacts import survey
from anon_pipeline.vault.gitindex import tracked_files
from anon_pipeline.vault.keys import PREFIX, keys_from
from anon_pipeline.vault.store import store_at

__all__ = ["CHECKS", "Check", "Finding", "Verdict", "examine"]

PACKAGE: Final = "anon-pipeline"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OFF: Final = {"1", "y", "yes", "true", "on"}

Verdict = Literal["ok", "warn", "fail"]


class Found(NamedTuple):
    """What a check found: its verdict, in words, and what to do about it (empty: nothing)."""

    verdict: Verdict
    words: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """What is looked at: the folders of a project, and the environment's variables."""

    locations: Locations
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is looked at.

    name: of the check. looks_at: for people. find: looks.
    """

    name: str
    looks_at: str
    find: Callable[[Place], Found]


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's answer: its name, what it looked at, the verdict, what was found and what to do about it."""

    name: str
    looks_at: str
    verdict: Verdict
    found: str
    advice: str


def examine(locations: Locations, environ: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """Make every check of the table.

    Args:
        locations: the folders of a project.
        environ: default: the process's environment.
    Returns:
        A finding for each check, in the table's order. A check that cannot look fails.
    """
    place = Place(locations, os.environ if environ is None else environ)
    return tuple(_make_finding(check, place) for check in CHECKS)


def _make_finding(check: Check, place: Place) -> Finding:
    """Make one check; what stops it is its finding."""
    try:
        found = check.find(place)
    except AnonPipelineError as error:
        found = Found("fail", str(error))
    except OSError as error:
        words = f"cannot be looked at: {error_words(error)}"
        found = Found("fail", words, "Run this as the user that makes the releases.")
    return Finding(check.name, check.looks_at, found.verdict, found.words, found.advice)


def _versions(_: Place) -> Found:
    """Compare what is installed with what the package requires."""
    python = ".".join(map(str, sys.version_info[:3]))
    wrong = []
    for requirement in map(Requirement, metadata.requires(PACKAGE) or ()):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            version = "none"
        if version == "none" or not requirement.specifier.contains(version, prereleases=True):
            wrong.append(f"{requirement} (installed: {version})")
    if wrong:
        return Found("fail", f"does not fit: {', '.join(wrong)}", f"Run pip install --upgrade {PACKAGE}.")
    return Found("ok", f"{PACKAGE} {metadata.version(PACKAGE)}, Python {python}, all requirements fit")


def _extras(_: Place) -> Found:
    """Say which extras are installed in full."""
    given: dict[str, list[str]] = {}
    for requirement in map(Requirement, metadata.requires(PACKAGE) or ()):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            continue
        for extra in metadata.metadata(PACKAGE).get_all("Provides-Extra") or ():
            if marker.evaluate({"extra": extra}):
                given.setdefault(extra, []).append(requirement.name)
    have = [extra for extra, names in given.items() if extra != "dev" and all(map(_is_installed, names))]
    return Found("ok", f"installed: {', '.join(have) or 'none'}")


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _plugins(_: Place) -> Found:
    """Compare the plugins that are allowed with those that are installed."""
    listed, there = allowed_names(), {plugin.name for plugin in installed_plugins()}
    missing = [name for name in listed if name not in there]
    if missing:
        return Found("fail", f"not installed: {', '.join(missing)}", f"Install them, or change {VARIABLE}.")
    words = (f"allowed: {', '.join(listed) or 'none'}", f"installed: {', '.join(sorted(there)) or 'none'}")
    return Found("ok", "; ".join(words))


def _folders(place: Place) -> Found:
    """Ask whether the project's folders can be written to, or read from."""
    at = place.locations
    wanted = {"sources": (at.sources, os.R_OK), "releases": (_there(at.releases), os.W_OK)}
    bad = [name for name, (folder, mode) in wanted.items() if not os.access(folder, mode | os.X_OK)]
    if bad:
        advice = "Let this user read sources and write releases."
        return Found("fail", f"not accessible: {', '.join(bad)}", advice)
    return Found("ok", f"sources can be read, releases can be written ({at.releases})")


def _there(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next((above for above in (folder, *folder.parents) if above.exists()), folder)


def _key(place: Place) -> Found:
    """Find the vault's key, as a run would."""
    keys = keys_from(place.environ)
    if keys.current is None:
        return Found(
            "warn",
            "no key is set: private tables are stored as they are",
            f"Set {PREFIX}_KEY_FILE or {PREFIX}_KEY_COMMAND; openssl rand -base64 32 makes a key.",
        )
    return Found("ok", f"a key is set (id {keys.current.id}), and {len(keys.old)} old ones")


def _key_file(place: Place) -> Found:
    """Ask who may read the files that hold keys."""
    names = [name for name in place.environ if name.startswith(PREFIX) and name.endswith("KEY_FILE")]
    names += [name for name in (f"{PREFIX}_OLD_KEYS_FILE",) if name in place.environ]
    wide = [name for name in names if Path(place.environ[name]).stat().st_mode & _OTHERS]
    if wide:
        return Found("fail", f"other users may open the file of {', '.join(wide)}", "Run chmod 600 on it.")
    return Found("ok", f"{len(names)} files of keys, for their owner alone")


def _vault(place: Place) -> Found:
    """Count what other users may open in the vault."""
    at = place.locations
    if at.remote_vault is not None:
        return Found("warn", "the vault is at a URL: its permissions are not known here", "Check them there.")
    if not at.vault.exists():
        return Found("ok", f"no vault yet ({at.vault}); it is made with mode 0700")
    wide = sum(1 for path in (at.vault, *_below(at.vault)) if path.lstat().st_mode & _OTHERS)
    if wide:
        advice = f"Run chmod -R go= {at.vault}. Who could open them may have read private tables."
        return Found("fail", f"other users may open {wide} of its files and folders", advice)
    plain = survey(store_at(str(at.vault))).plain if keys_from(place.environ).current is not None else 0
    if plain:
        advice = "Run anon-pipeline vault rotate, with --encrypt-plain if it asks whether they are yours."
        return Found("warn", f"a key is set, and {plain} of its files were written without one", advice)
    return Found("ok", f"for its owner alone ({at.vault})")


def _below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if not path.is_symlink())


def _git(place: Place) -> Found:
    """Ask whether git tracks files of the vault, or private tables of policies."""
    at = place.locations
    private = {folder / PRIVATE for folder in (at.project, at.hierarchies) if folder is not None}
    count, tables = tracked_files(at.vault), sum(map(tracked_files, private))
    if count or tables:
        advice = "Run git rm -r --cached on its folder. If they were pushed, treat them as published."
        return Found("fail", f"git tracks {count} files of the vault, {tables} of {PRIVATE}/", advice)
    return Found("ok", f"git tracks no file of the vault, and none of {PRIVATE}/")


def _ledger(place: Place) -> Found:
    """Look at the ledger's place; it is not opened."""
    url = place.locations.ledger
    if url == OFF:
        return Found("warn", "off: the ε of releases is not counted", "Unset ANON_PIPELINE_LEDGER.")
    if not url.startswith("sqlite:///"):
        if _is_installed("psycopg"):
            return Found("ok", "in PostgreSQL (not connected to)")
        return Found("fail", "PostgreSQL needs psycopg", f"Run pip install '{PACKAGE}[postgres]'.")
    path = Path(url.removeprefix("sqlite:///"))
    if not os.access(_there(path), os.W_OK):
        return Found("fail", f"cannot be written ({path})", "Let this user write it, and its folder.")
    if path.exists() and path.stat().st_mode & _OTHERS_WRITE:
        return Found("fail", f"other users may change it ({path})", f"Run chmod 600 {path}.")
    return Found("ok", f"{'there' if path.exists() else 'made by the first release'} ({path})")


def _dagster_home(place: Place) -> Found:
    """Look at the folder of Dagster's runs."""
    home = place.environ.get("DAGSTER_HOME")
    if not home:
        advice = "Set DAGSTER_HOME to a folder if you use Dagster; run and demo do not need it."
        return Found("warn", "not set: Dagster forgets its runs", advice)
    path = Path(home)
    if not path.is_absolute() or not path.is_dir() or not os.access(path, os.W_OK):
        words = f"must be an absolute path of a folder that can be written, got {home}"
        return Found("fail", words, "Make the folder, or correct DAGSTER_HOME.")
    if path.stat().st_mode & _OTHERS_WRITE:
        return Found("fail", f"other users may change it ({home})", f"Run chmod go-w {home}.")
    return Found("ok", home)


def _telemetry(place: Place) -> Found:
    """Ask whether Dagster would report its use to its makers."""
    if place.environ.get("DAGSTER_DISABLE_TELEMETRY", "").lower() in _OFF:
        return Found("ok", "off by DAGSTER_DISABLE_TELEMETRY")
    path = Path(place.environ.get("DAGSTER_HOME") or "") / "dagster.yaml"
    settings: Any = None
    if place.environ.get("DAGSTER_HOME") and path.is_file():
        try:
            settings = yaml.safe_load(path.read_text(encoding="utf-8"))
        except yaml.YAMLError:
            return Found("fail", "dagster.yaml is not YAML", "Correct it.")
    telemetry = settings.get("telemetry") if isinstance(settings, dict) else None
    if isinstance(telemetry, dict) and telemetry.get("enabled") is False:
        return Found("ok", "off by dagster.yaml")
    advice = "Set DAGSTER_DISABLE_TELEMETRY=yes, or telemetry: {enabled: false} in dagster.yaml."
    return Found("warn", "on: Dagster sends counts of its use to its makers", advice)


def _numba(place: Place) -> Found:
    """Look at the folder of compiled kernels: what lies there is run."""
    if place.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return Found("warn", "NUMBA_DISABLE_JIT is set: kernels run hundreds of times slower", "Unset it.")
    package = Path(__file__).parents[1]
    folder = Path(place.environ.get("NUMBA_CACHE_DIR") or package)
    at = _there(folder)
    if at.stat().st_mode & _OTHERS_WRITE and not at.stat().st_mode & stat.S_ISVTX:
        advice = f"Run chmod go-w {folder}, delete what is in it, and run {PACKAGE} warmup."
        return Found("fail", f"other users may change code that is run ({folder})", advice)
    if not os.access(at, os.W_OK):
        return Found("warn", f"cannot be written ({folder}): each process compiles", "Set NUMBA_CACHE_DIR.")
    kernels = sum(1 for _ in folder.rglob("*.nbi"))
    if not kernels:
        return Found("warn", f"empty ({folder}): the first run compiles", f"Run {PACKAGE} warmup.")
    return Found("ok", f"{kernels} kernels compiled ({folder})")


def _scratch(place: Place) -> Found:
    """Look at the folder for columns of large tables."""
    named = place.environ.get(SCRATCH)
    if not named:
        return Found("ok", f"not set: large tables are in memory ({SCRATCH})")
    folder = Path(named)
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        advice = f"Make the folder, or correct {SCRATCH}."
        return Found("fail", f"must be a folder that can be written, got {named}", advice)
    room = shutil.disk_usage(folder).free
    return Found("ok", f"{room / 2**30:,.1f} GiB free ({named})")


CHECKS: Final = (
    Check("versions", "Python and the required packages", _versions),
    Check("extras", "optional packages", _extras),
    Check("plugins", f"plugins that {VARIABLE} allows", _plugins),
    Check("folders", "folders of sources and releases", _folders),
    Check("vault_key", "the key of the vault", _key),
    Check("key_files", "permissions of files with keys", _key_file),
    Check("vault_permissions", "permissions of the vault", _vault),
    Check("vault_under_git", "the vault, private tables and git", _git),
    Check("ledger", "the place of the ledger", _ledger),
    Check("dagster_home", "DAGSTER_HOME", _dagster_home),
    Check("telemetry", "Dagster's telemetry", _telemetry),
    Check("scratch", "the folder for columns of large tables", _scratch),
    Check("numba_cache", "the folder of compiled kernels", _numba),
)
"""Every check, in the order in which findings are shown."""
