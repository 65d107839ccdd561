"""What each limit demands, in one sentence for people.

Belongs here: the sentences. Does not belong here: judging (`judge`, `attacks`).
"""

from __future__ import annotations

__all__ = ["meaning"]

_OVER_NOISE = "Judged is the mean over the noise, or the drawn noise with linking: realized."
_SAYS = {
    "contract": "The columns of the policy and no other, no undeclared identifier, numbers on their grid.",
    "origin": "Every stage made by this policy; noise and order from the system's entropy, not from a seed.",
    "k": "Every class of equal quasi-identifiers has at least so many records.",
    "t_closeness": "In every class {} is distributed as in the whole input, up to this distance.",
    "l_diversity": "In every class {} has enough different values.",
    "linking_risk": f"At most this share of the records is nearest to its own original. {_OVER_NOISE}",
    "suppression": "At most this share of the input is missing from the release.",
    "confidence_k": "No record has fewer, but at least one, originals in its confidence interval.",
    "cross_release_k": "So many persons fit all classes, over all releases, that any one was published in.",
    "attacker_success": f"At most this share of the guesses at the nearest original is right. {_OVER_NOISE}",
    "assignment_risk": "At most this share is linked, by the nearest or likeliest original or one to one. "
    f"{_OVER_NOISE}",
    "expected_linking_risk": "The noise lets at most this share be linked, on average.",
    "averaging": "The mean of several releases would let at most this share be linked.",
    "linkage": f"At most this share is linked by comparing all records: {{}}. {_OVER_NOISE}",
    "homogeneity": "At most this share of the records is in classes with a single value of {}.",
    "skewness": "In no class is a value of {} more times as frequent as in the whole input.",
    "similarity": "In every class two values of {} are at least so different.",
    "prosecutor_risk": "At most this chance of picking a given person's record.",
    "marketer_risk": "At most this share picked rightly over all classes.",
    "population": "Who knows the population names the persons of at most this share: {}.",
    "sample_uniques": "At most this share of the records is alone with its quasi-identifiers.",
    "minimal_uniques": "At most this share of the records is singled out by up to three quasi-identifiers.",
    "sticky": "What was published before and has not changed has the same noise.",
}


def meaning(limit: str) -> str:
    """Say in one sentence what a limit demands.

    Args:
        limit: its name, as `limits_of` has it: ``k``, ``t_closeness.salary``.
    """
    kind, _, of = limit.partition(".")
    return _SAYS[kind].format(of)
