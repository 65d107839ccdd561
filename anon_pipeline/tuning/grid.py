"""The points to be compared: every combination of k, ε, confidence and recoder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy

MOST_POINTS = 10_000

_KS = (2, 3, 5, 10, 20, 50, 100)
_EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Choice(NamedTuple):
    """What tuning chooses between: one value of each; None: no noise of a scale, no such suppression.

    amounts: of columns that are changed as a whole, by name; those that are not named stay as they are.
    """

    k: int
    epsilon: float | None
    confidence: float | None
    recoder: str
    amounts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Values to be combined; an empty tuple stands for what the policy has.

    k: class sizes, in records.
    epsilon: of a record.
    confidence: of the interval that must not single a record out; None: no such suppression.
    recoder: names of recoders.
    """

    k: tuple[int, ...] = ()
    epsilon: tuple[float, ...] = ()
    confidence: tuple[float | None, ...] = ()
    recoder: tuple[str, ...] = ()


def default_grid(policy: Policy, *, left: float = math.inf) -> Grid:
    """Return seven k from 2 to 100 and ε from 0.1 to the policy's own, which are both among them.

    No ε is larger than the policy's, than its budget, or than what is left of that. It is the policy's alone
    where columns are changed as a whole, too: amounts take its place.

    Args:
        left: ε that the budget has left. Where no ε fits, it is the only one; the policy's, if none is left.
    """
    ks = tuple(sorted({*_KS, policy.anonymize.k}))
    if policy.perturb is None or policy.changed_columns:
        return Grid(k=ks)
    own = policy.perturb.epsilon
    most = min(own, left, math.inf if policy.budget is None else policy.budget.epsilon)
    fitting = {epsilon for epsilon in (*_EPSILONS, own) if epsilon <= most} or {most if most > 0 else own}
    return Grid(k=ks, epsilon=tuple(sorted(fitting)))


def choices(policy: Policy, grid: Grid) -> list[Choice]:
    """Combine a grid's values, each once: recoder, then k, then ε, then confidence.

    Raises:
        InputError: ε or a confidence for a policy without noise, or too many points.
    """
    epsilon = policy.noise_epsilon
    if epsilon is None and (grid.epsilon or any(grid.confidence)):
        raise InputError("epsilon and confidence must be left out: no column has noise of a scale")
    own = Choice(policy.anonymize.k, epsilon, policy.suppress.confidence, policy.anonymize.recoder)
    ks, epsilons = dict.fromkeys(grid.k or (own.k,)), dict.fromkeys(grid.epsilon or (own.epsilon,))
    confidences = dict.fromkeys(grid.confidence or (own.confidence,))
    recoders = dict.fromkeys(grid.recoder or (own.recoder,))
    points = len(ks) * len(epsilons) * len(confidences) * len(recoders)
    if points > MOST_POINTS:
        raise InputError(
            f"a grid must have at most {MOST_POINTS:,} points, got {points:,}. Leave values out."
        )
    product = itertools.product(recoders, ks, epsilons, confidences)
    return [Choice(k, e, c, recoder) for recoder, k, e, c in product]


def policy_at(policy: Policy, choice: Choice) -> Policy:
    """Return the policy with a choice's values.

    Raises:
        PolicyError: it would not be a policy, such as a recoder that does not fit another option.
    """
    attributes: dict[str, Any] = policy.model_dump()
    for section, values in _changes(choice):
        attributes[section] = (attributes[section] or {}) | values
    for name, amount in choice.amounts:
        attributes["columns"][name]["amount"] = amount
    return policy_from(attributes)


def _changes(choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
    known = RECODERS.get(choice.recoder)  # an unknown one is refused with the policy that it makes
    options = set() if known is None else {"levels", "classes", "gamma"} - known.options
    yield "anonymize", {"k": choice.k, "recoder": choice.recoder, **dict.fromkeys(options)}
    if choice.epsilon is not None:
        yield "perturb", {"epsilon": choice.epsilon}
    yield "suppress", {"confidence": choice.confidence}
