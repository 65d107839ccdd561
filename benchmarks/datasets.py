"""The three datasets of the paper: Adult, and two generated voter lists.

Belongs here: which columns a dataset has, and the policies of the experiments. Does not belong here: making
the tables (`adult`, `voters`), measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from anon_pipeline import Policy
from anon_pipeline.policy import policy_from
from benchmarks.adult import adult_folder, paper_columns, paper_table
from benchmarks.voters import florida, michigan

WIDTHS: Final = (1, 2, 4, 8, 16, 32)
"""Intervals of a height (cm) or weight (kg) as a k-quasi-identifier. The paper does not print its own;
with the value itself (0.1) and ``*`` there are eight levels: the lattice grows eight times, [KE VII-D]."""

_LIMIT: Final = 0.05


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset.

    title: for people.
    attribute, unit: the ε-quasi-identifier.
    columns: all others, as in a policy.
    table: makes the data; of the records wanted (None: as many as the paper has) and a seed.
    suppressed: what OLA suppressed in [KE Table IV], percent by k.
    """

    title: str
    attribute: str
    unit: str
    columns: Mapping[str, Mapping[str, Any]]
    table: Callable[[int | None, int], pd.DataFrame]
    suppressed: Mapping[int, float]

    def policy(self, k: int, recoder: str, *, loss: str = "precision") -> Policy:
        """Build the policy of (k, ε)-anonymity: the attribute gets noise (ε = 1; figures set their own)."""
        noise = {"role": "perturb", "unit": self.unit, "resolution": 0.1}
        return self._policy(noise, {"k": k, "recoder": recoder, "loss": loss}, perturb={"epsilon": 1})

    def k_policy(self, k: int, recoder: str, *, loss: str = "precision") -> Policy:
        """Build the policy of k-anonymity: the attribute is generalized with the others."""
        generalized = {"role": "generalize", "hierarchy": {"intervals": list(WIDTHS)}}
        return self._policy(generalized, {"k": k, "recoder": recoder, "loss": loss})

    def _policy(self, attribute: dict[str, Any], anonymize: dict[str, Any], **sections: Any) -> Policy:
        return policy_from(
            {
                "name": "paper",
                "source": {"path": "paper.csv"},
                "columns": {**self.columns, self.attribute: attribute},
                "anonymize": {**anonymize, "suppression_limit": _LIMIT},
                **sections,
            }
        )


def _adult(records: int | None, seed: int) -> pd.DataFrame:
    return paper_table(adult_folder(), seed=seed)


def _florida(records: int | None, seed: int) -> pd.DataFrame:
    return florida(seed=seed) if records is None else florida(records, seed=seed)


def _michigan(records: int | None, seed: int) -> pd.DataFrame:
    return michigan(seed=seed) if records is None else michigan(records, seed=seed)


def _voter_columns(identifiers: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {
        **{name: {"role": "identifier", "action": "drop"} for name in identifiers},
        "zip": {"role": "generalize", "hierarchy": {"mask": [1, 2, 3, 4]}},
        "gender": {"role": "generalize", "hierarchy": {"suppress": True}},
        "year_of_birth": {"role": "generalize", "hierarchy": {"intervals": [2, 4, 8]}},
    }


def _suppressed(*shares: float) -> dict[int, float]:
    return dict(zip((2, 5, 10, 20, 50, 100), shares, strict=True))


DATASETS: Final[dict[str, Dataset]] = {
    "adult": Dataset(
        "Adult", "height", "cm", paper_columns(), _adult, _suppressed(1.67, 2.42, 3.71, 1.47, 1.76, 4.80)
    ),
    "florida": Dataset(
        "Florida (generated)",
        "height",
        "cm",
        {
            **_voter_columns(("name", "surname", "address", "email", "phone")),
            "race": {"role": "generalize", "hierarchy": {"suppress": True}},
        },
        _florida,
        _suppressed(4.77, 3.91, 4.15, 4.18, 3.47, 3.48),
    ),
    "michigan": Dataset(
        "Michigan (generated)",
        "weight",
        "kg",
        _voter_columns(("name", "surname", "address")),
        _michigan,
        _suppressed(4.83, 1.88, 3.73, 3.96, 1.53, 1.34),
    ),
}
