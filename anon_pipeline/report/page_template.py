"""Templates of pages: everything escaped, every name known, one style for all."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from anon_pipeline.base.shares import percent, percent_at_most

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def page_template(path: Path) -> Template:
    """Return the template in a file, which can include those of this folder."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only who publishes

    environment = Environment(
        loader=FileSystemLoader([path.parent, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["percent_at_most"] = percent_at_most
    return environment.get_template(path.name)
