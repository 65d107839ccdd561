"""A policy from YAML or a mapping, with every mistake listed at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS, kind_of_type
from anon_pipeline.policy.columns import Column
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.later_rules import RETIRED, broken_since
from anon_pipeline.policy.mistake_words import mistakes_of
from anon_pipeline.policy.model import TYPE, Policy
from anon_pipeline.policy.open_questions import questions_in
from anon_pipeline.policy.policy_file import document_in, policy_text, refuse_tables
from anon_pipeline.policy.rendering import by_environment, render_attributes
from anon_pipeline.policy.rules import broken_rules

_KEYS = ("type", "attributes", "requirements", "post_processing", "template_vars_module")
"""What may stand in a `defs.yaml`; all but the first two is Dagster's."""


def load_policy(path: str | Path, *, retired: bool = False) -> Policy:
    """Read a policy file.

    Args:
        path: YAML file with ``type`` and ``attributes``.
        retired: whether it may break rules that came after its releases were made, and what the organization
            demands now; for verifying them.
    Raises:
        PolicyError: unreadable, not YAML, mistakes in the policy (all of them listed), or weaker than a
            `policy.defaults.yaml` accepts, see `policy.defaults_files`.
    """
    try:
        policy = parse_policy(policy_text(Path(path)), retired=retired)
    except PolicyError:
        refuse_tables(Path(path))
        raise
    if not retired:
        refuse_below_defaults(policy, Path(path))
    return policy


def parse_policy(text: str, *, retired: bool = False) -> Policy:
    """Read a policy from YAML text; see `load_policy`."""
    attributes, problems = _attributes_in(text, TYPE, Policy)
    return policy_from(attributes, problems, retired=retired).with_open_questions(questions_in(text))


def parsed_file(path: Path, kind: str, model: type[BaseModel]) -> tuple[Any, list[str]]:
    """Return what a policy file of a kind has below ``attributes:``, rendered, and what is wrong around it.

    Args:
        kind: what must stand at ``type:``.
        model: of the attributes.
    Raises:
        PolicyError: unreadable, not YAML, or without ``type`` and ``attributes``.
    """
    return _attributes_in(policy_text(path), kind, model)


def _attributes_in(text: str, kind: str, model: type[BaseModel]) -> tuple[Any, list[str]]:
    """Return the attributes in a policy's text, and what is wrong around them; see `parsed_file`."""
    document = document_in(text)
    if not isinstance(document, dict) or not {"type", "attributes"} & set(document):
        # perhaps a file of data, given by mistake: none of its keys is quoted
        raise PolicyError(f"the policy must be a mapping with type: {kind} and attributes")
    problems = []
    if document.get("type") != kind:
        problems.append(_other_type(document.get("type"), kind))
    extra = sorted(str(key) for key in document if key not in _KEYS)
    if extra:
        hint = ". Indent what belongs below attributes." if {*extra} & {*model.model_fields} else ""
        problems.append(f"only the keys type and attributes are known, got {', '.join(extra)}{hint}")
    problems += [f"requirements.env: {name} must be set" for name in _unset(document)]
    return render_attributes(document.get("attributes"), by_environment()), problems


def _other_type(written: object, kind: str) -> str:
    """Say what is wrong with the ``type:`` of a policy that is not of a kind.

    Raises:
        PolicyError: it is, or is nearly, another kind: what is wrong with the rest would mislead.
    """
    other, types = kind_of_type(written), (TYPE, *(one.type for one in RELEASE_KINDS.values()))
    if other is not None:
        raise PolicyError(
            f"type: must be {kind} for this command. For {other.words}: run makes it, rehearse tries "
            f"it, check-policy and verify check it, compare-kinds compares it ({other.page})."
        )
    if close := get_close_matches(str(written), types, n=1) if isinstance(written, str) else []:
        raise PolicyError(f"type: is not known. Is it {close[0]}?")
    others = ", ".join(one for one in types if one != kind)
    return f"type: must be {kind}; or, for other kinds of releases, one of {others}"


def _unset(document: Mapping[str, Any]) -> list[str]:
    """Return the environment variables that a file requires and that are not set."""
    required = document.get("requirements")
    names = required.get("env") if isinstance(required, dict) else None
    return [str(name) for name in names if str(name) not in os.environ] if isinstance(names, list) else []


def policy_from(attributes: Any, problems: list[str] | None = None, *, retired: bool = False) -> Policy:
    """Build a policy from its attributes.

    Args:
        attributes: the mapping below ``attributes:``.
        problems: mistakes found before, to be listed with the others.
        retired: see `load_policy`.
    Raises:
        PolicyError: every mistake, a line each.
    """
    found = list(problems or [])
    if not isinstance(attributes, (dict, Policy)):
        raise PolicyError([*found, "attributes: must be a mapping"])
    try:
        policy = Policy.model_validate(attributes, context={RETIRED: retired})
    except ValidationError as error:
        found += mistakes_of(error, Policy)
        if isinstance(attributes, dict):
            parts = _parts(attributes)
            broken = [*broken_rules(parts), *([] if retired else broken_since(parts))]
            found += [line for line in broken if line not in found]
        raise PolicyError(found) from None
    if found:
        raise PolicyError(found)
    return policy


def _parts(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Parse each section on its own; a section that does not parse is left out."""
    parts: dict[str, Any] = {}
    for section, field in Policy.model_fields.items():
        if section not in attributes:
            if not field.is_required():
                parts[section] = field.get_default()
            continue
        if section == "columns" and isinstance(attributes[section], Mapping):
            parts[section] = {
                str(name): _parse(Column, column) for name, column in attributes[section].items()
            }
            continue
        parsed = _parse(field.rebuild_annotation(), attributes[section])
        if parsed is not None or attributes[section] is None:
            parts[section] = parsed
    return parts


def _parse(annotation: Any, value: Any) -> Any:
    """Parse one part of a policy; None where it does not parse (its mistakes are listed elsewhere)."""
    try:
        return TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        return None
