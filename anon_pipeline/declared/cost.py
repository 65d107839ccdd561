"""What a release with declared columns has cost, in one line for whoever made it."""

from __future__ import annotations

from fractions import Fraction

from anon_pipeline.declared.draft import declared_booking
from anon_pipeline.ledger import exact_text
from anon_pipeline.ledger.same_people import all_of_the_people
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.accounts import spent_of_budget


def declared_cost(policy: DeclaredRelease, locations: Locations, *, refused: bool = False) -> str | None:
    """Say what is booked for a release that was made or refused, and what another one costs; None without ε.

    Args:
        refused: whether it was refused after its noise was drawn: the noise is then used again.
    Returns:
        One line; None without a ledger, or where nothing is spent.
    Raises:
        InputError: the ledger cannot be read.
    """
    booked = declared_booking(policy, locations)
    if booked.ledger is None or not booked.noisy:
        return None
    asked = booked.asked
    counted = asked.budget or all_of_the_people(asked)
    spent = spent_of_budget(booked.ledger, asked, counted)
    if asked.budget is None:
        account = (
            f"the releases of this kind of {policy.dataset or policy.name} have spent ε = "
            f"{exact_text(spent)} together, and no budget limits it"
        )
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
