"""Policies of releases with declared columns from YAML or a mapping, with every mistake listed at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.release_kinds import ReleaseKind, kind_of_type
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.defaults_files import refuse_declared_below_defaults
from anon_pipeline.policy.load import parsed_file
from anon_pipeline.policy.mistake_words import mistakes_of
from anon_pipeline.policy.open_questions import questions_in
from anon_pipeline.policy.policy_file import policy_text, read_document


def kind_of_policy(path: Path) -> ReleaseKind | None:
    """Return the kind of release whose policy a file says to be; None: another one, or it cannot be read."""
    try:
        document = read_document(path)
    except PolicyError:
        return None
    return kind_of_type(document.get("type")) if isinstance(document, dict) else None


def policy_model(kind: ReleaseKind) -> type[DeclaredRelease]:
    """Return the model of the policies of a kind of release."""
    model: type[DeclaredRelease] = import_entry(kind.policy)
    return model


def load_declared(path: Path, kind: ReleaseKind, *, retired: bool = False) -> DeclaredRelease:
    """Read the policy file of a kind of release.

    Args:
        retired: whether the organization may accept it no more; for verifying its releases.
    Raises:
        PolicyError: unreadable, not YAML, mistakes in the policy (all of them listed), or not accepted by a
            `policy.defaults.yaml`, see `policy.defaults_files`.
    """
    attributes, problems = parsed_file(path, kind.type, policy_model(kind))
    policy = declared_from(attributes, kind, problems).with_open_questions(questions_in(policy_text(path)))
    if not retired:
        refuse_declared_below_defaults(policy, path)
    return policy


def declared_from(attributes: Any, kind: ReleaseKind, problems: list[str] | None = None) -> DeclaredRelease:
    """Build the policy of a kind of release from its attributes.

    Args:
        attributes: the mapping below ``attributes:``.
        problems: mistakes found before, to be listed with the others.
    Raises:
        PolicyError: every mistake, a line each.
    """
    found, model = list(problems or []), policy_model(kind)
    if not isinstance(attributes, (dict, model)):
        raise PolicyError([*found, "attributes: must be a mapping"])
    if isinstance(attributes, dict):
        attributes, strange = model.fit_attributes(attributes)
        found += strange
    try:
        policy = model.model_validate(attributes)
    except ValidationError as error:
        raise PolicyError([*found, *mistakes_of(error, model)]) from None
    if found:
        raise PolicyError(found)
    return policy
