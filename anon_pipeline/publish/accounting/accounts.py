"""What a release has cost, in one line for whoever made it."""

from __future__ import annotations

from fractions import Fraction

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import Asked, Ledger, exact_text, ledger_at, requested_by
from anon_pipeline.ledger.budget import sum_spent
from anon_pipeline.ledger.same_people import all_of_the_people
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.locations import OFF, Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Budget
from anon_pipeline.publish.accounting.booking import booking


def describe_cost(
    policy: Policy, locations: Locations, *, partition: str | None, refused: bool
) -> str | None:
    """Say what is booked for a release that was made or refused, and what another one costs.

    Args:
        refused: whether the gate refused it: its noise is then used again.
    Returns:
        One line, with δ if the noise has one, which no ledger adds up; None without noise or a ledger.
    Raises:
        InputError: the ledger cannot be read.
    """
    booked = booking(policy, locations, partition=partition)
    if booked.ledger is None or not booked.noisy:
        return None
    asked, parts = booked.asked, list[str]()
    fresh = policy.perturb is not None and policy.perturb.republish == "fresh"
    if fresh:  # sticky noise may have cost less
        delta = None if policy.perturb is None else policy.perturb.delta
        also = "" if delta is None else f", and δ = {delta:g} comes with it (each release adds its own)"
        parts.append(f"ε = {asked.epsilon} is booked{also}")
    if asked.budget is not None:
        spent, limit = (
            spent_of_budget(booked.ledger, asked, asked.budget),
            exact_fraction(asked.budget.epsilon),
        )
        left = exact_text(max(limit - spent, Fraction(0)))
        parts.append(f"{exact_text(spent)} of the budget of {exact_text(limit)} spent, {left} remaining")
    elif fresh and (total := _sum_of_people(booked.ledger, asked)) > Fraction(asked.epsilon):
        parts.append(
            f"the releases of {asked.dataset} have spent ε = {exact_text(total)} together, and no budget "
            "limits it"
        )
    if not parts:
        return None
    said = "; ".join(parts)
    if refused:
        return f"{said}. Running again with the same data and policy costs nothing; any change costs ε again."
    if not fresh:
        return f"{said}. Running again costs ε only for values that have changed."
    return f"{said}. Running again draws new noise, which costs ε again."


def remaining_epsilon(policy: Policy, locations: Locations, *, partition: str | None) -> Fraction | None:
    """Return the ε that a policy's budget has left, at least 0; None without a budget, or a ledger.

    Nothing is entered. Where the ledger is not there, or cannot be read, nothing is known to be spent.
    """
    if policy.budget is None or locations.ledger == OFF:
        return None
    try:
        spent = spent_of_budget(
            ledger_at(locations.ledger, make=False), requested_by(policy, partition), policy.budget
        )
    except InputError:
        spent = Fraction(0)
    return max(exact_fraction(policy.budget.epsilon) - spent, Fraction(0))


def _sum_of_people(ledger: Ledger, asked: Asked) -> Fraction:
    """Return the ε that was ever spent for these people."""
    return spent_of_budget(ledger, asked, all_of_the_people(asked))


def spent_of_budget(ledger: Ledger, asked: Asked, budget: Budget) -> Fraction:
    """Return the ε that a budget counts as spent."""
    with ledger.page() as page:
        entries = list(page.others(""))
    now = ledger.now()
    return sum_spent(entries, budget, dataset=asked.dataset, partition=asked.partition, now=now).epsilon
