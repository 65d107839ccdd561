"""Rules that came after releases were made.

No release is made by a policy that breaks one; a release that is out can still be verified by its policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.policy.noise_rules import without_public_scale

RETIRED = "retired"
"""Key of pydantic's validation context under which these rules are not asked."""


def broken_since(sections: Mapping[str, Any]) -> list[str]:
    """List which rules of later versions a policy breaks.

    Args:
        sections: parsed sections by name; a section that did not parse is absent, a column that did not
            parse is None.
    Returns:
        One line per mistake, in a fixed order.
    Source:
        ADR 32: noise that stays while its class grows is too small for the class.
    """
    columns, section = sections.get("columns"), sections.get("perturb")
    if columns is None or getattr(section, "republish", "fresh") != "sticky":
        return []
    without = without_public_scale(columns, section)
    scaled = [name for name, why in without.items() if why == "class"]
    uniform = [name for name, why in without.items() if why == "no promise"]
    found = []
    if scaled:
        found.append(
            f"perturb.republish: sticky needs noise whose scale is public, got noise that is scaled to the "
            f"class for {', '.join(scaled)}. Give each sensitivity: declared and public input_bounds, or set "
            f"republish: fresh."
        )
    if uniform:
        kinds = ", ".join(
            dict.fromkeys(columns[name].mechanism or getattr(section, "mechanism", "") for name in uniform)
        )
        found.append(
            f"perturb.republish: sticky needs noise that promises ε, got mechanism: {kinds} for "
            f"{', '.join(uniform)}. These fit: discrete_laplace, staircase, discrete_gaussian."
        )
    return found
