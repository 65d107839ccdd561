"""A rehearsal: what refuses it, and what is said of one that passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.draft.rehearsal import Rehearsal, describe, rehearse
from anon_pipeline.policy import Policy
from anon_pipeline.policy.load import policy_from

N = 200


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"born": rng.integers(1, 10**6, N), "sex": rng.choice(["f", "m"], N)})


def policy(**gate: object) -> Policy:
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "born": {"role": "generalize", "hierarchy": {"suppress": True}},
                "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
            },
            "anonymize": {"k": 5},
            "gate": {"k": 5, **gate},
        }
    )


def test_one_that_passes_says_what_would_be_left() -> None:
    found = rehearse(policy(), people(), ["born", "sex"], Path())
    assert (found.refused, found.silent) == ((), ("born",))
    assert [limit for limit, _ in found.warned] == ["utility_fully_generalized"]
    assert list(describe(found, ["weight"])) == [
        "A rehearsal passed with 1 warning. It would release 200 of 200 records (100 %).",
        f"  warned    utility_fully_generalized: {found.warned[0][1]}",
        "  nothing is left of born: one value in every record",
        "  next to nothing is left of weight: the noise moves a value further than the values differ "
        "from each other (standard deviation)",
    ]


def test_one_without_warnings_says_so() -> None:
    (line,) = describe(Rehearsal(share="5 of 5 records (100 %)"), [])
    assert line == "A rehearsal passed with no warning. It would release 5 of 5 records (100 %)."


def test_one_that_is_refused_names_the_limits_and_columns() -> None:
    wanted = policy(utility={"fully_generalized": 0})
    assert rehearse(wanted, people(), ["born", "sex"], Path()).refused == ("utility_fully_generalized",)
    frame = people().assign(sex=[f"person{i}@example.org" for i in range(N)])
    assert rehearse(policy(), frame, ["born", "sex"], Path()) == Rehearsal(("identifiers",), ("sex",))
    assert rehearse(policy(), people().drop(columns="sex"), ["born"], Path()).refused == ("input",)


def test_what_was_assumed_of_people_is_said() -> None:
    found = Rehearsal(share="5 of 5 records (100 %)", warned=(("repeated_people", "set person."),))
    line, warned = describe(found, ())
    assumed = "Each person was assumed to have one record: unless the policy says so, the release is refused."
    assert line.endswith(f"(100 %). {assumed}")
    assert warned == "  warned    repeated_people: set person."
