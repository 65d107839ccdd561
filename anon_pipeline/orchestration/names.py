"""Names of checks and jobs: one place, so that the lock asks for what the checks record."""

import re
from typing import Protocol

import dagster as dg

from anon_pipeline.limits.table import limits_of
from anon_pipeline.policy.model import Policy

GX_CHECK = "great_expectations"


def check_names(policy: Policy) -> dict[str, str]:
    """Return the name of each limit's check, by limit: letters, digits and underscores, all different."""
    names: dict[str, str] = {}
    for limit in limits_of(policy):
        plain = re.sub(r"[^A-Za-z0-9_]", "_", limit)
        taken = set(names.values()) | {GX_CHECK}
        free = (plain if i == 1 else f"{plain}_{i}" for i in range(1, len(taken) + 2))
        names[limit] = next(name for name in free if name not in taken)
    return names


def gate_check_keys(policy: Policy) -> list[dg.AssetCheckKey]:
    """Return the keys of all gate checks, which `published` demands to have passed."""
    asset = dg.AssetKey([policy.name, "published"])
    return [dg.AssetCheckKey(asset, name) for name in (*check_names(policy).values(), GX_CHECK)]


def check_page(policy: Policy, limit: str) -> str:
    """Return the page of a limit's check in Dagster's UI, from the root of its webserver."""
    return f"/assets/{policy.name}/published?view=checks&checkDetail={check_names(policy)[limit]}"


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def release_job(policy: _Named) -> str:
    """Return the name of the job that makes the release."""
    return f"{policy.name}_release"


def gate_job(policy: Policy) -> str:
    """Return the name of the job that runs the gate checks alone."""
    return f"{policy.name}_gate"
