"""A policy weighed before anything is made of it: depth, aliases written out, length of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.base.size_bounds import POLICY_DEPTH, POLICY_NODES, POLICY_NUMBER, POLICY_TEXT

_TEXT = "tag:yaml.org,2002:str"


def refuse_large(node: yaml.Node) -> None:
    """Refuse a document that is too deep, or that grows too large once its aliases are written out.

    Raises:
        PolicyError: naming the limit.
    """
    _weigh(node, _Kind(_children, _refuse_long), {}, 0)


def refuse_large_values(value: Any) -> None:
    """Refuse what a document has become, by the same limits: values that are shared count where they stand.

    Args:
        value: of mappings, lists and scalars, nested; anything else counts as one value.
    Raises:
        PolicyError: naming the limit.
    """
    _weigh(value, _Kind(_values_below, _refuse_long_value), {}, 0)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of tree is walked: what is below a node, and what refuses one that is too long."""

    children: Callable[[Any], Iterable[Any]]
    refuse_long: Callable[[Any], None]


def _weigh(node: Any, kind: _Kind, known: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
    """Return a node's number of nodes with aliases written out, and its height.

    Args:
        known: weights so far by the node's identity; a node that is being weighed has none (−1).
    """
    nodes, height = known.get(id(node), (0, 0))
    if nodes < 0:
        raise PolicyError("the policy must be finite, got an alias within what it stands for")
    if not nodes:
        known[id(node)] = (-1, 0)
        if depth > POLICY_DEPTH:
            raise PolicyError(f"the policy must be at most {POLICY_DEPTH} levels deep, got more")
        kind.refuse_long(node)
        below = [_weigh(child, kind, known, depth + 1) for child in kind.children(node)]
        nodes = 1 + sum(weight for weight, _ in below)
        height = 1 + max((tall for _, tall in below), default=0)
        known[id(node)] = (nodes, height)
    if depth + height > POLICY_DEPTH:
        raise PolicyError(f"the policy must be at most {POLICY_DEPTH} levels deep, got more")
    if nodes > POLICY_NODES:
        raise PolicyError(
            f"the policy must have at most {POLICY_NODES:,} keys and values, aliases written out, got more"
        )
    return nodes, height


def _children(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refuse_long(node: yaml.Node) -> None:
    """Refuse texts that are too long, and numbers with too many digits: computing with them would not end."""
    if not isinstance(node, yaml.ScalarNode):
        return
    most = POLICY_TEXT if node.tag == _TEXT else POLICY_NUMBER
    if len(node.value) > most:
        what = "text" if node.tag == _TEXT else "number"
        raise PolicyError(
            f"line {node.start_mark.line + 1}: a {what} must have at most {most:,} characters, got more"
        )


def _values_below(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    return value if isinstance(value, (list, tuple, set, frozenset)) else []


def _refuse_long_value(value: Any) -> None:
    """Refuse a text or a whole number that is too long."""
    if isinstance(value, str) and len(value) > POLICY_TEXT:
        raise PolicyError(f"a text must have at most {POLICY_TEXT:,} characters, got more")
    if isinstance(value, int) and abs(value) >= 10**POLICY_NUMBER:
        raise PolicyError(f"a number must have at most {POLICY_NUMBER:,} characters, got more")
