"""A policy from YAML or a mapping, with every mistake listed at once."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError

from anon_pipeline.base.errors import PolicyError, error_words
from anon_pipeline.base.places import LOCAL, is_local
from anon_pipeline.base.size_bounds import POLICY_BYTES, read_small
from anon_pipeline.base.spelling import escape
from anon_pipeline.catalog.release_kinds import kind_of_type
from anon_pipeline.policy.columns import Column
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.later_rules import RETIRED, broken_since
from anon_pipeline.policy.mistake_words import mistakes_of
from anon_pipeline.policy.model import TYPE, Policy
from anon_pipeline.policy.rendering import by_environment, render_attributes
from anon_pipeline.policy.rules import broken_rules
from anon_pipeline.policy.size import refuse_large

_MERGE = "tag:yaml.org,2002:merge"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_KEYS = ("type", "attributes", "requirements", "post_processing", "template_vars_module")
"""What may stand in a `defs.yaml`; all but the first two is Dagster's."""
SUFFIXES = (".yaml", ".yml")
"""How the names of policy files end."""
_ATTRIBUTES = re.compile(rb"""(?:^|[{,])\s*["']?attributes["']?\s*:""", re.MULTILINE)
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


_HINTS = {
    "character '\\t'": ". Indent with spaces, not with tabs.",
    "mapping values are not allowed": ". Put a text with a colon in quotes, and begin each key of a section "
    "in the same column.",
    "cannot start any token": ". Put a text that begins with a sign such as @, % or ` in quotes.",
    "alias": ". Put a text that begins with * or & in quotes.",
    "anchor": ". Put a text that begins with * or & in quotes.",
    "flow mapping": ". A comma or a closing } is missing, or a text must be put in quotes.",
    "flow sequence": ". A comma or a closing ] is missing, or a text must be put in quotes.",
    "quoted scalar": ". A quote is not closed.",
    "simple key": ". A colon is missing after a key.",
    "<block end>, but found '<scalar>'": ". Put a text that begins with {, [ or a quote in quotes.",
    "sequence entries": ". Begin a list in a line of its own, or write [one, other].",
    "expected <block end>": ". Begin each key of a section in the same column.",
    "single document": ". Leave the line --- and what follows out.",
    "could not determine a constructor": ". Put a text that begins with ! in quotes.",
    "unhashable key": ". Put {{ … }} in quotes.",
    "malformed": ". Put {{ … }} in quotes.",
}
"""What is probably wrong, by words of PyYAML's message, which is not shown: it quotes what it found."""


class _UniqueKeys(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice (plain YAML keeps the last one silently)."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Make a value of a node; what PyYAML cannot make is a mistake with a line."""
        try:
            return super().construct_object(node, deep=deep)
        except _UNFIT:  # PyYAML lets these escape: a 13th month, a tag that does not fit its value
            if node.tag == _TIMESTAMP:
                line = node.start_mark.line + 1
                raise PolicyError(
                    f"line {line}: must be a date of the calendar, got one that is not"
                ) from None
            raise _malformed_error(node) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Make a mapping of a node, of which each key is given once."""
        if not isinstance(node, yaml.MappingNode):
            raise _malformed_error(node)
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.tag != _MERGE]
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        if twice:
            raise PolicyError(
                f"line {node.start_mark.line + 1}: keys must be unique, got twice: {', '.join(twice)}"
            )
        return super().construct_mapping(node, deep=deep)


def _malformed_error(node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, "malformed", node.start_mark)


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
        policy = parse_policy(_text(Path(path)), retired=retired)
    except PolicyError:
        _refuse_tables(Path(path))
        raise
    if not retired:
        refuse_below_defaults(policy, Path(path))
    return policy


def read_document(path: Path) -> Any:
    """Read one YAML document within the limits of a policy file, each key once.

    Raises:
        PolicyError: unreadable, not YAML, beyond a limit, or a key given twice.
    """
    try:
        return _document(_text(path))
    except (yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(error, "must be one well-formed YAML document") from None


def check_policy_file(path: Path) -> None:
    """Refuse a file that somebody else's reader is about to read, by the limits of a policy.

    Every document in it is weighed before anything is made of it; what the documents mean is not looked at.

    Args:
        path: YAML file of one or more documents.
    Raises:
        PolicyError: unreadable, not YAML, beyond a limit, or a key given twice.
    """
    text = _text(path)
    loader = _UniqueKeys(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                refuse_large(node)
                loader.construct_document(node)
    except (yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(error, "must be well-formed YAML") from None
    finally:
        loader.dispose()


def _text(path: Path) -> str:
    """Read a policy file, no more than it may be large."""
    if not is_local(path):
        raise PolicyError(f"the policy {LOCAL}")
    try:
        data = read_small(path, POLICY_BYTES)
        text = "" if data is None else data.decode("utf-8")
    except (OSError, ValueError) as error:
        name = escape(path.name or str(path))
        raise PolicyError(f"the policy must be a readable UTF-8 file, {name}: {error_words(error)}") from None
    if data is None:
        raise PolicyError(f"the policy must have at most {POLICY_BYTES:,} bytes, got more")
    return text


def _refuse_tables(path: Path) -> None:
    """Refuse a file that has no key of a policy, nor the name of one; nothing of it is quoted."""
    if path.suffix.lower() in SUFFIXES or not path.is_file():
        return
    data: bytes | None = None
    with suppress(OSError):  # it may be gone by now, or not be readable
        data = read_small(path, POLICY_BYTES)
    if data is None or not _ATTRIBUTES.search(data):
        raise PolicyError(
            f"the policy must be a file whose name ends with {' or '.join(SUFFIXES)}, got "
            f"{escape(path.name)}. Is it a table? Then write a policy for it: anon-pipeline init"
        ) from None


def _not_yaml(error: Exception, rule: str) -> PolicyError:
    mark, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    where = f", line {mark.line + 1} is not" if mark else ""
    if mark and begun and begun.line != mark.line:
        where += f", in what begins in line {begun.line + 1}"
    said = f"{getattr(error, 'context', None)}: {getattr(error, 'problem', None)}"
    hints = (hint for words, hint in _HINTS.items() if words in said)
    return PolicyError(f"the policy {rule}{where}{next(hints, '')}")


def parse_policy(text: str, *, retired: bool = False) -> Policy:
    """Read a policy from YAML text; see `load_policy`."""
    attributes, problems = _attributes_in(text, TYPE, Policy)
    return policy_from(attributes, problems, retired=retired)


def parsed_file(path: Path, kind: str, model: type[BaseModel]) -> tuple[Any, list[str]]:
    """Return what a policy file of a kind has below ``attributes:``, rendered, and what is wrong around it.

    Args:
        kind: what must stand at ``type:``.
        model: of the attributes.
    Raises:
        PolicyError: unreadable, not YAML, or without ``type`` and ``attributes``.
    """
    return _attributes_in(_text(path), kind, model)


def _attributes_in(text: str, kind: str, model: type[BaseModel]) -> tuple[Any, list[str]]:
    """Return the attributes in a policy's text, and what is wrong around them; see `parsed_file`."""
    if len(text) > POLICY_BYTES:
        raise PolicyError(f"the policy must have at most {POLICY_BYTES:,} bytes, got more")
    try:
        document = _document(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(error, "must be one well-formed YAML document") from None
    if not isinstance(document, dict) or not {"type", "attributes"} & set(document):
        # perhaps a file of data, given by mistake: none of its keys is quoted
        raise PolicyError(f"the policy must be a mapping with type: {kind} and attributes")
    problems = []
    other = kind_of_type(document.get("type"))
    if other is not None and other.type != kind:
        raise PolicyError(
            f"type: must be {kind} for this command. What makes {other.words} is run; check-policy and "
            f"verify check it ({other.page})."
        )
    if document.get("type") != kind:
        problems.append(f"type: must be {kind}")
    extra = sorted(str(key) for key in document if key not in _KEYS)
    if extra:
        hint = ". Indent what belongs below attributes." if {*extra} & {*model.model_fields} else ""
        problems.append(f"only the keys type and attributes are known, got {', '.join(extra)}{hint}")
    problems += [f"requirements.env: {name} must be set" for name in _unset(document)]
    return render_attributes(document.get("attributes"), by_environment()), problems


def _unset(document: Mapping[str, Any]) -> list[str]:
    """Return the environment variables that a file requires and that are not set."""
    required = document.get("requirements")
    names = required.get("env") if isinstance(required, dict) else None
    return [str(name) for name in names if str(name) not in os.environ] if isinstance(names, list) else []


def _document(text: str) -> Any:
    """Read one YAML document, its nodes weighed before anything is made of them."""
    loader = _UniqueKeys(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        refuse_large(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


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
