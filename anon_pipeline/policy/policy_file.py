"""The file of a policy: its text and the YAML document in it, within limits of size, each key once."""

from __future__ import annotations

import re
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from anon_pipeline.base.errors import PolicyError, error_words
from anon_pipeline.base.places import LOCAL, is_local
from anon_pipeline.base.size_bounds import POLICY_BYTES, read_small
from anon_pipeline.base.spelling import escape
from anon_pipeline.policy.size import refuse_large

_MERGE = "tag:yaml.org,2002:merge"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
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


def document_in(text: str) -> Any:
    """Return the YAML document in a text.

    Raises:
        PolicyError: not one YAML document, beyond a limit, or a key given twice.
    """
    if len(text) > POLICY_BYTES:
        raise PolicyError(f"the policy must have at most {POLICY_BYTES:,} bytes, got more")
    try:
        return _document(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise _not_yaml(error, "must be one well-formed YAML document") from None


def read_document(path: Path) -> Any:
    """Read one YAML document within the limits of a policy file, each key once.

    Raises:
        PolicyError: unreadable, not YAML, beyond a limit, or a key given twice.
    """
    return document_in(policy_text(path))


def check_policy_file(path: Path) -> None:
    """Refuse a file that somebody else's reader is about to read, by the limits of a policy.

    Every document in it is weighed before anything is made of it; what the documents mean is not looked at.

    Args:
        path: YAML file of one or more documents.
    Raises:
        PolicyError: unreadable, not YAML, beyond a limit, or a key given twice.
    """
    text = policy_text(path)
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


def policy_text(path: Path) -> str:
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


def refuse_tables(path: Path) -> None:
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
