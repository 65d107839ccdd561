"""Plugins: packages that add entries to the tables, if the deployment allows them.

A package declares entry points in the groups ``anon_pipeline.limits``, ``.mechanisms``, ``.recoders``,
``.sources``, ``.hierarchies`` and ``.losses``: each has the name of an entry, and leads to it. Only packages
that ``ANON_PIPELINE_PLUGINS`` lists are imported, once per process, before the first table is made.

Decision: docs/adr/0042-plugins.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import Any, TypeVar

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import (
    Format,
    Generator,
    HierarchyKind,
    LimitKey,
    Loss,
    Mechanism,
    Recoder,
    SourceKind,
)

VARIABLE = "ANON_PIPELINE_PLUGINS"
"""Names the distributions that are allowed, with commas between them."""
ENTRIES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "limits": (LimitKey,),
        "mechanisms": (Mechanism,),
        "recoders": (Recoder,),
        "sources": (Format, Generator, SourceKind),
        "hierarchies": (HierarchyKind,),
        "losses": (Loss,),
    }
)
"""What a plugin may add, by group: the types of its entries."""
_PREFIX = "anon_pipeline."
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_E = TypeVar("_E")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A distribution that declares entries.

    name: normalized, as package indexes do: lower case, with hyphens.
    version: that is installed.
    kinds: names of its entries with their groups: ``limits.mean_age``.
    """

    name: str
    version: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        """Name it with its version."""
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class _Added:
    """An entry of a plugin."""

    plugin: Plugin
    name: str
    entry: Any


def allowed_names() -> tuple[str, ...]:
    """Return the names of the distributions that the deployment allows, each once."""
    listed = (normal_name(name) for name in os.environ.get(VARIABLE, "").split(","))
    return tuple(dict.fromkeys(name for name in listed if name))


def normal_name(name: str) -> str:
    """Write the name of a distribution as package indexes do (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def installed_plugins() -> tuple[Plugin, ...]:
    """Return all plugins that are installed, allowed or not; none of their code is imported."""
    found: dict[str, Plugin] = {}
    for plugin in map(_plugin, metadata.distributions()):
        if plugin.kinds:
            found.setdefault(plugin.name, plugin)  # of two copies, the first is imported
    return tuple(found[name] for name in sorted(found))


def loaded_plugins() -> tuple[Plugin, ...]:
    """Return the plugins whose entries are in the tables, in the order in which they are allowed.

    Raises:
        PluginError: see `table_of`.
    """
    return tuple(_load())


def table_of(
    group: str, kind: type[_E], own: Iterable[_E], *, taken: Collection[str] = ()
) -> Mapping[str, _E]:
    """Return a table: the entries of this package, then those of plugins, by name.

    Args:
        taken: more names that a plugin must not use. In a group no two entries of any type have one name.
    Raises:
        PluginError: a plugin that is allowed is not installed, declares nothing or a group that there is
            not, has another name or no version in its metadata, or cannot be imported; an entry of another
            type or with another name than its entry point; a name that there is already.
    """
    table: dict[str, Any] = {entry.name: entry for entry in own}  # type: ignore[attr-defined]
    owners = dict.fromkeys((*taken, *table), "anon-pipeline")
    for added in (one for entries in _load().values() for one in entries[group]):
        if added.name in owners:
            raise PluginError(
                f"the plugin {added.plugin} must not use the name {added.name} in {_PREFIX}{group}: it is of "
                f"{owners[added.name]}. {_REMOVE}"
            )
        owners[added.name] = str(added.plugin)
        if isinstance(added.entry, kind):
            table[added.name] = added.entry
    return MappingProxyType(table)


_REMOVE = f"Correct the plugin, or remove it from {VARIABLE}."


def _plugin(distribution: metadata.Distribution) -> Plugin:
    points = (f"{point.group.removeprefix(_PREFIX)}.{point.name}" for point in _points(distribution))
    return Plugin(normal_name(distribution.name or ""), distribution.version, tuple(sorted(points)))


def _points(distribution: metadata.Distribution) -> list[metadata.EntryPoint]:
    groups = {_PREFIX + group for group in ENTRIES}
    return [point for point in distribution.entry_points if point.group in groups]


@cache
def _load() -> Mapping[Plugin, Mapping[str, tuple[_Added, ...]]]:
    """Import the entries of all allowed plugins, by group."""
    return {plugin: _entries(plugin, points) for plugin, points in map(_find, allowed_names())}


def _find(name: str) -> tuple[Plugin, list[metadata.EntryPoint]]:
    try:
        distribution = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        raise PluginError(
            f"{VARIABLE} must list packages that are installed, got {name!a}. Install it, or remove it."
        ) from None
    points = _points(distribution)
    if not points:
        groups = ", ".join(_PREFIX + group for group in ENTRIES)
        raise PluginError(
            f"{VARIABLE} must list plugins, got {name}, which has no entry point in {groups}. Remove it."
        )
    plugin = _plugin(distribution)
    unknown = {point.group for point in distribution.entry_points if point.group.startswith(_PREFIX)}
    unknown -= {_PREFIX + group for group in ENTRIES}
    if unknown:
        raise PluginError(
            f"the plugin {name} must have entry points only in groups that there are, got "
            f"{', '.join(map(ascii, sorted(unknown)))}. {_REMOVE}"
        )
    if plugin.name != name or not plugin.version:
        raise PluginError(
            f"the plugin {name} must have its name and a version in its metadata, which manifests state, got "
            f"{plugin.name!a} and {plugin.version!a}. Install it again, or remove it from {VARIABLE}."
        )
    return plugin, points


def _entries(plugin: Plugin, points: Iterable[metadata.EntryPoint]) -> Mapping[str, tuple[_Added, ...]]:
    found: dict[str, tuple[_Added, ...]] = dict.fromkeys(ENTRIES, ())
    for point in points:
        group = point.group.removeprefix(_PREFIX)
        found[group] += (_Added(plugin, point.name, _entry(plugin, group, point)),)
    return found


def _entry(plugin: Plugin, group: str, point: metadata.EntryPoint) -> Any:
    what = f"the plugin {plugin}: {_PREFIX}{group} {point.name!a}"
    try:
        entry: Any = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the import of a plugin can raise anything
        kind = type(error).__name__
    else:
        wanted = " or ".join(one.__name__ for one in ENTRIES[group])
        if not isinstance(entry, ENTRIES[group]):
            raise PluginError(f"{what} must be a {wanted}, got {type(entry).__name__}. {_REMOVE}")
        if getattr(entry, "name", None) != point.name or not _NAME.fullmatch(point.name):
            raise PluginError(
                f"{what} must have the name of its {wanted}, of lower-case letters and digits. {_REMOVE}"
            )
        return entry
    raise PluginError(  # out of the handler, so that it carries no traceback of the plugin
        f"{what} could not be imported, got {kind}. Its module may import only catalog.entries, "
        f"policy.fields and policy.marks of anon_pipeline. {_REMOVE}"
    )
