"""The policy file: pydantic models, rules between them, YAML in, JSON Schema out.
Decisions: docs/adr/0040-kinds-are-entries.md.
"""

from anon_pipeline.policy.load import load_policy, parse_policy, policy_from
from anon_pipeline.policy.model import TYPE, Policy, json_schema

__all__ = ["TYPE", "Policy", "json_schema", "load_policy", "parse_policy", "policy_from"]
