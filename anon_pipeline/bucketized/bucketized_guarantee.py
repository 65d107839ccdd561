"""What a bucketized release promises, in words: sentences of the policy alone."""

from __future__ import annotations

from anon_pipeline.policy.bucketized_release import BucketizedPolicy


def bucketized_guarantee(policy: BucketizedPolicy) -> list[str]:
    """Return the sentences of the guarantee."""
    known = ", ".join(name for one in policy.slices[:-1] for name in one)
    together = "; ".join(", ".join(one) for one in policy.slices)
    return [
        f"By its bucket alone, a record's value of {policy.sensitive} is guessed with probability "
        f"1/{policy.l} at most, even by an attacker who knows {known} exactly. Rows of two "
        f"tables belong together with probability 1/{policy.k} at most.",
        f"Values are released as they are, in tables of their own: {together}. Whoever knows some values of "
        "a row sees the others in it, and that the person is in the data.",
        "Less is promised against attackers who know more: who can rule out values of a person guesses "
        f"better, and who knows {policy.sensitive} of all others of a bucket knows the last one.",
        "Measured with a simulated attacker who knows all other values of a person, which is no upper bound: "
        "how often he guesses right after he has learned from all buckets which values go together.",
        "All of this holds of one release, and of people with one record: whoever has two releases of the "
        "same people, or several records of one person, guesses more.",
    ]
