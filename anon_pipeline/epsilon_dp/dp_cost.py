"""What an ε-DP release has cost, in one line for whoever made it."""

from __future__ import annotations

from fractions import Fraction

from anon_pipeline.epsilon_dp.dp_release import dp_booking
from anon_pipeline.ledger import exact_text
from anon_pipeline.ledger.same_people import all_of_the_people
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.accounts import spent_of_budget


def dp_cost(policy: EpsilonDpPolicy, locations: Locations, *, refused: bool = False) -> str | None:
    """Say what is booked for a release that was made or refused, and what another one costs.

    Args:
        refused: whether it was refused after its noise was drawn: the noise is then used again.
    Returns:
        One line; None without a ledger.
    Raises:
        InputError: the ledger cannot be read.
    """
    booked = dp_booking(policy, locations)
    if booked.ledger is None:
        return None
    asked = booked.asked
    counted = asked.budget or all_of_the_people(asked)
    spent = spent_of_budget(booked.ledger, asked, counted)
    if asked.budget is None:
        account = (
            f"the ε-DP releases of {_people(policy)} have spent ε = {exact_text(spent)} together, and no "
        )
        account += "budget limits it"
    else:
        limit = exact_fraction(asked.budget.epsilon)
        left = exact_text(max(limit - spent, Fraction(0)))
        account = f"{exact_text(spent)} of the budget of {exact_text(limit)} spent, {left} remaining"
    again = (
        "Running again with the same data and policy costs nothing; any change costs ε again."
        if refused
        else "Running again draws new noise, which costs ε again."
    )
    return f"ε = {asked.epsilon} is booked; {account}. {again}"


def _people(policy: EpsilonDpPolicy) -> str:
    return policy.dataset or policy.name
