"""The chosen values into a policy file: these, and not one other byte.

The text is cut at the marks that the parser gives and put together again, so that comments, quotes, order and
line ends stay; a writer of YAML would keep the comments and set the rest anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import yaml

from anon_pipeline.base.disk import replace_file
from anon_pipeline.base.errors import PolicyError, error_words
from anon_pipeline.base.size_bounds import POLICY_BYTES, read_small
from anon_pipeline.policy.load import parse_policy
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.grid import Choice, policy_at


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Source(NamedTuple):
    """A policy's text, and whether it is JSON, which must stay so."""

    text: str
    is_json: bool

    @property
    def spelled(self) -> Callable[[str], str]:
        """How a name is written."""
        return json.dumps if self.is_json else str


def apply(path: Path, policy: Policy, choice: Choice) -> bool:
    """Write a choice into the policy file, atomically.

    Args:
        path: of the file; a link stays one.
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
        raise PolicyError(f"the policy must be a readable UTF-8 file: {error_words(error)}") from None
    if parse_policy(text).digest != policy.digest:
        raise PolicyError("the policy file must be the one that was tuned, got a changed one. Tune again.")
    after = edit_text(text, policy, choice)
    if after == text:
        return False
    try:
        replace_file(path, after.encode("utf-8"), mode=path.stat().st_mode & 0o777, what="policy")
    except OSError as error:
        raise PolicyError(f"the policy file must be writable: {error_words(error)}") from None
    return True


def edit_text(text: str, policy: Policy, choice: Choice) -> str:
    """Return a policy's text with a choice's values.

    Args:
        choice: the values; those that the policy has already stay as they are written.
    Raises:
        PolicyError: a value that is not spelled out where it stands.
    """
    wanted = policy_at(policy, choice)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    source = _Source(text, _is_json(text))
    changes = list(_changes(policy, choice, source.spelled))
    edits = [_edit(source, _child(root, "attributes"), place, value) for place, value in changes]
    after = text
    for edit in sorted(edits, reverse=True):
        after = after[: edit.start] + edit.text + after[edit.end :]
    try:
        found = parse_policy(after).digest
    except PolicyError:
        found = ""
    if found != wanted.digest or _is_json(after) != source.is_json:
        raise PolicyError(
            "the policy file must spell out "
            + ", ".join(".".join(place) for place, _ in changes)
            + " where they stand, without aliases. Change them by hand."
        )
    return after


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _changes(
    policy: Policy, choice: Choice, spelled: Callable[[str], str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the values that are others than the policy's, as they are written."""
    if choice.k != policy.anonymize.k:
        yield ("anonymize", "k"), str(choice.k)
    if choice.recoder != policy.anonymize.recoder:
        yield ("anonymize", "recoder"), spelled(choice.recoder)
    if choice.epsilon is not None and policy.perturb is not None and choice.epsilon != policy.perturb.epsilon:
        yield ("perturb", "epsilon"), _decimal(choice.epsilon)
    if choice.confidence != policy.suppress.confidence:
        yield ("suppress", "confidence"), _decimal(choice.confidence)
    for name, amount in choice.amounts:
        if amount != policy.noisy[name].amount:
            yield ("columns", name, "amount"), _decimal(amount)


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


def _edit(source: _Source, attributes: yaml.Node | None, place: tuple[str, ...], value: str) -> _Edit:
    """Say what to write where; a section that is missing goes below the one above it."""
    *sections, name = place
    inside = attributes
    for section in sections:
        above, inside = inside, _child(inside, section)
        if inside is None:
            return _insertion(source, above, section, f"{{{source.spelled(name)}: {value}}}")
    found = _child(inside, name)
    if found is None:
        return _insertion(source, inside, name, value)
    start, end = found.start_mark.index, found.end_mark.index
    return _Edit(start, end, f" {value}" if start == end else value)


def _insertion(source: _Source, mapping: yaml.Node | None, name: str, value: str) -> _Edit:
    """Return where a missing key goes: after the last one, on its own line except in YAML's {…}."""
    text, name = source.text, source.spelled(name)
    if not isinstance(mapping, yaml.MappingNode):
        raise PolicyError("the policy file must have a mapping in each section. Change it by hand.")
    if not mapping.value:
        at = mapping.end_mark.index - 1
        return _Edit(at, at, f"{name}: {value}")
    if mapping.flow_style:
        at = _end(mapping.value[-1][1])
        before = _before_key(text, mapping) if source.is_json else " "
        return _Edit(at, at, f",{before}{name}: {value}")
    at = text.find("\n", _end(mapping.value[-1][1]))
    at = len(text) if at < 0 else at
    at -= text[at - 1 : at] == "\r"
    line_end = "\r\n" if "\r\n" in text else "\n"
    return _Edit(at, at, f"{line_end}{' ' * mapping.value[0][0].start_mark.column}{name}: {value}")


def _before_key(text: str, mapping: yaml.MappingNode) -> str:
    """Return the white space before the last key: a line of its own where the others have one."""
    start = mapping.value[-1][0].start_mark.index
    found = text[len(text[:start].rstrip()) : start]
    return found if len(mapping.value) > 1 or "\n" in found else " "


def _end(node: yaml.Node) -> int:
    """Return where what is written of a node ends: a block's mark is where the next thing begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
