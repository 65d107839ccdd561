"""The policies that the package brings along, of generated patients, which run anywhere as they are.

Belongs here: the templates and filling in their names. Does not belong here: any other policy.
"""

from __future__ import annotations

import re
from importlib import resources

from anon_pipeline.catalog.release_kinds import ReleaseKind

__all__ = ["declared_template", "template"]


def template(name: str) -> str:
    """Return the policy file of the release `patients` under another name.

    Args:
        name: of the release; characters that a release's name may not have become underscores.
    """
    return _fill_in("patients", name)


def declared_template(kind: ReleaseKind, name: str) -> str:
    """Return the policy file of a release of another kind, of generated patients; see `template`."""
    return _fill_in(f"patients_{kind.name}", name)


def _fill_in(policy: str, name: str) -> str:
    text = (resources.files(__name__) / f"{policy}.yaml").read_text(encoding="utf-8")
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_0123456789") or "release"
    return text.replace(f"name: {policy}", f"name: {plain}")
