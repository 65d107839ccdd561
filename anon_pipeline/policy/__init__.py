"""The policy file: pydantic models, rules between them, YAML in, JSON Schema out."""

from anon_pipeline.policy.load import load_policy, parse_policy, policy_from
from anon_pipeline.policy.model import TYPE, Policy, json_schema

__all__ = ["TYPE", "Policy", "json_schema", "load_policy", "parse_policy", "policy_from"]
