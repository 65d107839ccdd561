"""What a synthetic release promises, in words: sentences of the policy alone."""

from __future__ import annotations

from anon_pipeline.policy.synthetic import SyntheticPolicy

_METHODS = {
    "copula": "a model of the distribution of each column and of the correlations of all pairs (a normal "
    "copula)",
    "trees": "models of each column given those before it (sequential trees)",
}


def synthetic_guarantee(policy: SyntheticPolicy) -> list[str]:
    """Return the sentences of the guarantee."""
    columns = ", ".join(policy.sensitive) or "none"
    several = (
        f"There are {policy.copies} copies, each drawn from a model of its own. Combine estimates over them "
        "by the rules for fully synthetic data (Raghunathan, Reiter and Rubin, 2003): one copy hides how "
        "uncertain an estimate is."
    )
    by_person = (
        f"The attackers know people by {policy.person}. A person can have several records, also all those of "
        "a category."
    )
    by_record = "All of this is about people with one record each: more is learned of several."
    one = "There is one copy. Intervals that are computed from it are too narrow."
    return [
        "No guarantee: nothing bounds what an attacker can learn. For a guarantee, make an ε-DP release.",
        f"No record of the data is released. All records are drawn from {_METHODS[policy.method]}. What the "
        "model does not contain is not kept.",
        f"Categories that fewer than {policy.k} records have are not released. A released number lies "
        f"between means of at least {policy.k} records' numbers.",
        "Measured with simulated attackers, which is no upper bound: copies of unique records; whether a "
        f"record was in the data; sensitive values (columns: {columns}). What is learned of people whether "
        "or not they are in the data does not count.",
        by_person if policy.person is not None else by_record,
        several if policy.copies > 1 else one,
    ]
