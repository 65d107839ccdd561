"""The policy that the package brings along: the release `patients`, which runs anywhere as it is.

Belongs here: the template and filling in its name. Does not belong here: any other policy.
"""

from __future__ import annotations

import re
from importlib import resources

__all__ = ["template"]


def template(name: str) -> str:
    """Return the policy file of the release `patients` under another name.

    Args:
        name: of the release; characters that a release's name may not have become underscores.
    """
    text = (resources.files(__name__) / "patients.yaml").read_text(encoding="utf-8")
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_0123456789") or "release"
    return text.replace("name: patients", f"name: {plain}")
