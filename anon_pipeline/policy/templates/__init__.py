"""The policies that the package brings along, of generated patients, which run anywhere as they are.

Belongs here: the templates and filling in their names. Does not belong here: any other policy.
"""

from __future__ import annotations

import re
from importlib import resources

__all__ = ["dp_template", "template"]


def template(name: str) -> str:
    """Return the policy file of the release `patients` under another name.

    Args:
        name: of the release; characters that a release's name may not have become underscores.
    """
    return _fill_in("patients", name)


def dp_template(name: str) -> str:
    """Return the policy file of the ε-DP release `patients_dp` under another name; see `template`."""
    return _fill_in("patients_dp", name)


def _fill_in(policy: str, name: str) -> str:
    text = (resources.files(__name__) / f"{policy}.yaml").read_text(encoding="utf-8")
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_0123456789") or "release"
    return text.replace(f"name: {policy}", f"name: {plain}")
