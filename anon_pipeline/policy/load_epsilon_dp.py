"""The policy of an ε-DP release from YAML or a mapping, with every mistake listed at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.defaults_files import refuse_dp_below_defaults
from anon_pipeline.policy.epsilon_dp import DP_TYPE, EpsilonDpPolicy, without_breaking_keys
from anon_pipeline.policy.load import parsed_file, read_document
from anon_pipeline.policy.mistake_words import mistakes_of


def is_dp_policy(path: Path) -> bool:
    """Tell whether a file says that it is the policy of an ε-DP release; one that cannot be read does not."""
    try:
        document = read_document(path)
    except PolicyError:
        return False
    return isinstance(document, dict) and document.get("type") == DP_TYPE


def load_dp_policy(path: Path, *, retired: bool = False) -> EpsilonDpPolicy:
    """Read the policy file of an ε-DP release.

    Args:
        retired: whether the organization may accept it no more; for verifying its releases.
    Raises:
        PolicyError: unreadable, not YAML, mistakes in the policy (all of them listed), or not accepted by a
            `policy.defaults.yaml`, see `policy.defaults_files`.
    """
    attributes, problems = parsed_file(path, DP_TYPE, EpsilonDpPolicy)
    policy = dp_policy_from(attributes, problems)
    if not retired:
        refuse_dp_below_defaults(policy, path)
    return policy


def dp_policy_from(attributes: Any, problems: list[str] | None = None) -> EpsilonDpPolicy:
    """Build the policy of an ε-DP release from its attributes.

    Args:
        attributes: the mapping below ``attributes:``.
        problems: mistakes found before, to be listed with the others.
    Raises:
        PolicyError: every mistake, a line each.
    """
    found = list(problems or [])
    if not isinstance(attributes, (dict, EpsilonDpPolicy)):
        raise PolicyError([*found, "attributes: must be a mapping"])
    if isinstance(attributes, dict):
        attributes, breaking = without_breaking_keys(attributes)
        found += breaking
    try:
        policy = EpsilonDpPolicy.model_validate(attributes)
    except ValidationError as error:
        raise PolicyError([*found, *mistakes_of(error, EpsilonDpPolicy)]) from None
    if found:
        raise PolicyError(found)
    return policy
