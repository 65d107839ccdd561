"""The chosen values into a policy file: these, and not one other byte.

Belongs here: finding the place of a value in YAML text and writing it. Does not belong here: choosing.

The text is cut at the marks that the parser gives and put together again, so that comments, quotes, order and
line ends stay; a writer of YAML would keep the comments and set the rest anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import yaml

from anon_pipeline.disk import replace_file
from anon_pipeline.errors import PolicyError, in_words
from anon_pipeline.limits import POLICY_BYTES, read_small
from anon_pipeline.policy.load import parse_policy
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.grid import Choice, policy_at

__all__ = ["apply", "edited"]


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def apply(path: Path, policy: Policy, choice: Choice) -> bool:
    """Write a choice into the policy file, atomically.

    Args:
        path: of the file; a link stays one.
        policy: as it was tuned.
        choice: the values.
    Returns:
        Whether the file had to be changed.
    Raises:
        PolicyError: unreadable, changed since it was tuned, or a value that is not spelled out where it
            stands (an alias, a merged mapping); the file is untouched.
    """
    path = path.resolve()
    try:
        data = read_small(path, POLICY_BYTES)
        text = (data or b"").decode("utf-8")
    except (OSError, ValueError) as error:
        raise PolicyError(f"the policy must be a readable UTF-8 file: {in_words(error)}") from None
    if parse_policy(text).digest != policy.digest:
        raise PolicyError("the policy file must be the one that was tuned, got a changed one. Tune again.")
    after = edited(text, policy, choice)
    if after == text:
        return False
    try:
        replace_file(path, after.encode("utf-8"), mode=path.stat().st_mode & 0o777, what="policy")
    except OSError as error:
        raise PolicyError(f"the policy file must be writable: {in_words(error)}") from None
    return True


def edited(text: str, policy: Policy, choice: Choice) -> str:
    """Return a policy's text with a choice's values.

    Args:
        text: YAML.
        policy: what it says.
        choice: the values; those that the policy has already stay as they are written.
    Raises:
        PolicyError: a value that is not spelled out where it stands.
    """
    wanted = policy_at(policy, choice)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    attributes = _child(root, "attributes")
    edits = [_edit(text, attributes, place, value) for place, value in _changes(policy, choice)]
    after = text
    for edit in sorted(edits, reverse=True):
        after = after[: edit.start] + edit.text + after[edit.end :]
    try:
        found = parse_policy(after).digest
    except PolicyError:
        found = ""
    if found != wanted.digest:
        raise PolicyError(
            "the policy file must spell out "
            + ", ".join(".".join(place) for place, _ in _changes(policy, choice))
            + " where they stand, without aliases. Change them by hand."
        )
    return after


def _changes(policy: Policy, choice: Choice) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the values that are others than the policy's, as they are written."""
    if choice.k != policy.anonymize.k:
        yield ("anonymize", "k"), str(choice.k)
    if choice.recoder != policy.anonymize.recoder:
        yield ("anonymize", "recoder"), choice.recoder
    if policy.perturb is not None and choice.epsilon != policy.perturb.epsilon:
        yield ("perturb", "epsilon"), _decimal(choice.epsilon)
    if choice.confidence != policy.suppress.confidence:
        yield ("suppress", "confidence"), _decimal(choice.confidence)


def _decimal(value: float | None) -> str:
    """Write a number without an exponent, which YAML 1.1 would read as a text.

    >>> _decimal(2.0), _decimal(1e-05), _decimal(None)
    ('2', '0.00001', 'null')
    """
    if value is None:
        return "null"
    written = format(Decimal(repr(float(value))), "f")
    return written.removesuffix(".0")


def _child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """Return the value of a key that stands in a mapping itself."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _edit(text: str, attributes: yaml.Node | None, place: tuple[str, str], value: str) -> _Edit:
    """Say what to write where."""
    section, name = place
    inside = _child(attributes, section)
    if inside is None:
        return _inserted(text, attributes, section, f"{{{name}: {value}}}")
    found = _child(inside, name)
    if found is None:
        return _inserted(text, inside, name, value)
    start, end = found.start_mark.index, found.end_mark.index
    return _Edit(start, end, f" {value}" if start == end else value)


def _inserted(text: str, mapping: yaml.Node | None, name: str, value: str) -> _Edit:
    """Say where a key goes that is not there: behind the last one, on a line of its own but in {…}."""
    if not isinstance(mapping, yaml.MappingNode):
        raise PolicyError("the policy file must have a mapping in each section. Change it by hand.")
    if not mapping.value:
        at = mapping.end_mark.index - 1
        return _Edit(at, at, f"{name}: {value}")
    if mapping.flow_style:
        at = _end(mapping.value[-1][1])
        return _Edit(at, at, f", {name}: {value}")
    at = text.find("\n", _end(mapping.value[-1][1]))
    at = len(text) if at < 0 else at
    at -= text[at - 1 : at] == "\r"
    line_end = "\r\n" if "\r\n" in text else "\n"
    return _Edit(at, at, f"{line_end}{' ' * mapping.value[0][0].start_mark.column}{name}: {value}")


def _end(node: yaml.Node) -> int:
    """Return where what is written of a node ends: a block's mark is where the next thing begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
