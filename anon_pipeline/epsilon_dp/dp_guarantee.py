"""What an ε-DP release guarantees, in words: sentences of the policy alone."""

from __future__ import annotations

import math

from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

_DEFINITION = (
    "End-to-end differential privacy, ε = {epsilon:g}: for any two tables with the same number of records "
    "that differ in one record, each possible release is at most e^{epsilon:g} = {factor:.3g} times as "
    "probable with one table as with the other. This covers everything that is published: file, manifest, "
    "report, and the answer of the gate."
)
_ATTACKER = (
    "So an attacker who knows the method and all records but one can multiply the odds of any guess about "
    "that record by {factor:.3g} at most: a guess that is right with probability 10 % without the release is "
    "right with at most {tenth:.0%} with it."
)
_PUBLIC = (
    "Not protected, since they are public: the number of records, the policy's columns and their declared "
    "values, and that the release was made."
)
_PEOPLE = (
    "The guarantee is one for records. The policy's author states that each person has one record "
    "(one_record_per_person)."
)
_MORE = (
    "Several ε-DP releases of the same people add up: with ε₁ and ε₂ they guarantee ε₁ + ε₂ together. The "
    "ledger keeps an account of such releases alone. The ε of other releases protects members of one class "
    "only, and must not be added."
)
_OF_METHOD = {
    "histograms": (
        "The records of the file are made up. They have noisy counts of declared values, of: {tables}. How "
        "columns depend on each other beyond these tables is not kept."
    ),
    "group_means": (
        "Each record of the file is a noisy mean of at least {k} records, of categories a noisy choice, and "
        "stands in the file as often as its group has records."
    ),
    "column_means": (
        "Each number of the file is a noisy mean of at least {k} neighbours in its column; categories have "
        "noisy counts. The columns were shuffled apart: how they depend on each other is not kept."
    ),
}


def dp_guarantee(policy: EpsilonDpPolicy) -> list[str]:
    """Return the sentences of the guarantee."""
    factor = math.exp(policy.epsilon)
    return [
        _DEFINITION.format(epsilon=policy.epsilon, factor=factor),
        _ATTACKER.format(factor=factor, tenth=_rounded_up(factor / (factor + 9))),
        method_sentence(policy),
        _PUBLIC,
        _PEOPLE,
        _MORE,
    ]


def _rounded_up(share: float) -> float:
    """Return a probability in whole percents that is not below this one."""
    return math.ceil(share * 100) / 100


def method_sentence(policy: EpsilonDpPolicy) -> str:
    """Say what the records of the file are."""
    groups = policy.group_means or policy.column_means
    tables = "; ".join(", ".join(table) for table in policy.tables)
    return _OF_METHOD[policy.method].format(tables=tables, k=None if groups is None else groups.k)
