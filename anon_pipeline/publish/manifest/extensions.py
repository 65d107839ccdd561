"""Which plugins made a release, in its manifest; and whether they are there to verify it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anon_pipeline.catalog.plugins import VARIABLE, Plugin, loaded_plugins
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy


def plugins_of(policy: Policy) -> list[dict[str, Any]]:
    """Return what a manifest says of plugins: all that are loaded, each with the kinds that a policy uses.

    Returns:
        ``name``, ``version`` and ``kinds`` of each, sorted; nothing where none is loaded.
    """
    used = set(_used_kinds(policy))
    return [
        {"name": one.name, "version": one.version, "kinds": [kind for kind in one.kinds if kind in used]}
        for one in sorted(loaded_plugins(), key=lambda one: one.name)
    ]


def _used_kinds(policy: Policy) -> Iterator[str]:
    """Yield the kinds that a policy uses, with their groups."""
    yield from (f"limits.{demand.limit.name}" for demand in demands(policy))
    kinds = (*policy.mechanisms.values(), *policy.changed_columns.values())
    yield from (f"mechanisms.{name}" for name in kinds)
    yield f"recoders.{policy.anonymize.recoder}"
    yield f"losses.{policy.anonymize.loss}"
    source = policy.source
    yield f"sources.{source.kind.name}"
    if not source.kind.generated:
        yield f"sources.{source.format}"
    elif isinstance(source.place, str):
        yield f"sources.{source.place}"
    if policy.gate.attacks.population is not None:
        yield f"sources.{policy.gate.attacks.population.format}"
    described = (getattr(column, "hierarchy", None) for column in policy.columns.values())
    yield from (f"hierarchies.{hierarchy_kind(spec).name}" for spec in described if spec is not None)


def absent(document: Mapping[str, Any]) -> dict[str, Plugin]:
    """Return the plugins that made a release and are not loaded here in the same version.

    Args:
        document: a manifest, whatever it says.
    Returns:
        Each by the reason why what it made cannot be checked.
    """
    here, found = {one.name: one for one in loaded_plugins()}, {}
    told = document.get("plugins")
    for item in told if isinstance(told, list) else []:
        if not (isinstance(item, dict) and isinstance(item.get("kinds"), list) and item["kinds"]):
            continue
        one = Plugin(str(item.get("name")), str(item.get("version")), tuple(map(str, item["kinds"])))
        known = here.get(one.name)
        if known is None or known.version != one.version:
            reason = (
                f"{', '.join(one.kinds)} cannot be checked: made with the plugin {one}, here "
                f"{'it is not loaded' if known is None else f'is {known.version}'}. Install that version and "
                f"list it in {VARIABLE}."
            )
            found[reason] = one
    return found


def broken_plugins(document: Mapping[str, Any], policy: Policy | None) -> list[str]:
    """List why the kinds of plugins cannot be checked, and whether a policy uses others than a manifest says.

    Args:
        document: the manifest; what it says of plugins has the shape of its version.
    """
    reasons = list(absent(document))
    if policy is not None and not reasons:
        told = {one["name"]: one["kinds"] for one in document.get("plugins", []) if one["kinds"]}
        used = {one["name"]: one["kinds"] for one in plugins_of(policy) if one["kinds"]}
        if told != used:
            reasons.append("the policy uses other kinds of plugins than the manifest says")
    return reasons
