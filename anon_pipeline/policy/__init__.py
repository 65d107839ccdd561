"""The policy file: pydantic models, rules between them, YAML in, JSON Schema out.
Decisions: docs/adr/0040-kinds-are-entries.md.

Names are imported when they are first used: plugins import `policy.fields` and `policy.marks` before the
tables are made that the model needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anon_pipeline.policy.load import load_policy as load_policy
    from anon_pipeline.policy.load import parse_policy as parse_policy
    from anon_pipeline.policy.load import policy_from as policy_from
    from anon_pipeline.policy.model import TYPE as TYPE
    from anon_pipeline.policy.model import Policy as Policy
    from anon_pipeline.policy.model import json_schema as json_schema

__all__ = ["TYPE", "Policy", "json_schema", "load_policy", "parse_policy", "policy_from"]
_LOADED = ("load_policy", "parse_policy", "policy_from")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'load' if name in _LOADED else 'model'}"), name)
