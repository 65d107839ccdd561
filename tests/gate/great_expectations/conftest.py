"""Releases made by hand, so that every limit can be kept or broken at will."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.gate.great_expectations.arguments import demand_of, document
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.cases import BatchCase, case_from
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.policy import Policy
from anon_pipeline.policy.load import policy_from
from tests.few_simulated import simulate_fewer

GRADES = ["low", "middle", "high"]
PLACES = ["Bath", "York", "Lyon", "Nice"]
NOISY = {"height": 0.1, "weight": 0.5}

COLUMNS: dict[str, Any] = {
    "ssn": {"role": "identifier", "action": "drop"},
    "region": {"role": "generalize", "hierarchy": {"suppress": True}},
    "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20]}},
    "height": {"role": "perturb", "resolution": 0.1, "missing": "suppress"},
    "weight": {"role": "perturb", "resolution": 0.5, "weight": 3, "missing": "suppress"},
    "pay": {"role": "sensitive", "distance": "ordered"},
    "grade": {"role": "sensitive", "distance": "ordered", "order": GRADES, "missing": "suppress"},
    "illness": {"role": "sensitive"},
    "place": {"role": "sensitive", "distance": "hierarchical", "hierarchy": {"table": "place.csv"}},
    "town": {
        "role": "sensitive",
        "distance": "hierarchical",
        "hierarchy": {"tree": {"England": ["Bath", "York"], "France": ["Lyon", "Nice"]}},
    },
}


class Made(NamedTuple):
    """A policy, the table to be released with its record ids, and the recoded table behind it."""

    policy: Policy
    released: pd.DataFrame
    originals: pd.DataFrame

    def rehashed(self, gate: dict[str, Any]) -> Made:
        """Return the same release under other limits."""
        attributes = self.policy.model_dump(mode="json", exclude_none=True)
        return self._replace(policy=policy_from({**attributes, "gate": gate}))


def policy_with(gate: dict[str, Any], noisy: int = 1) -> Policy:
    """Return a policy over the first ``noisy`` perturb columns."""
    dropped = list(NOISY)[noisy:]
    attributes: dict[str, Any] = {
        "name": "byhand",
        "source": {"path": "nowhere.csv"},
        "columns": {name: column for name, column in COLUMNS.items() if name not in dropped},
        "anonymize": {"k": 2},
        "gate": gate,
    }
    if noisy:
        attributes |= {"perturb": {"epsilon": 2}, "suppress": {"confidence": 0.9}}
    return policy_from(attributes)


def _recoded(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return n records in random classes, some in none and then without a value here and there."""
    tuples = rng.integers(0, 2, (n, 2))
    suppressed = rng.random(n) < 0.1
    codes = np.where(suppressed[:, None], -1, tuples)
    region = np.array(["north", "*"], object)[tuples[:, 0]]
    age = np.array(["[20, 40)", None], object)[tuples[:, 1]]
    frame = pd.DataFrame(
        {
            RECORD: rng.permutation(10 * n)[:n].astype(np.int64),
            CLASS: equivalence_classes(codes).labels,
            "region": pd.array(np.where(suppressed, None, region), dtype="str"),
            "age": pd.array(np.where(suppressed, None, age), dtype="str"),
            "height": np.round(rng.integers(1500, 1530, n) * 0.1, 1),
            "weight": rng.integers(100, 112, n) * 0.5,
            "pay": rng.integers(1, 9, n) * 1000,
            "grade": pd.array(rng.choice(GRADES, n), dtype="str"),
            "illness": pd.array(rng.choice(["flu", "cold", "gout"], n), dtype="str"),
            "place": pd.array(rng.choice(PLACES, n), dtype="str"),
            "town": pd.array(rng.choice(PLACES[: rng.integers(1, 5)], n), dtype="str"),
        }
    )
    lacking = suppressed & (rng.random(n) < 0.5)
    frame.loc[lacking, "height"] = np.nan
    frame.loc[lacking, "grade"] = None
    return frame


def make_release(
    seed: int, gate: dict[str, Any], *, noisy: int = 1, n: int = 60, kept: float = 0.8, noise: int = 4
) -> Made:
    """Make a release of n records: a share ``kept`` of those in classes, with noise of some grid units."""
    rng = np.random.default_rng(seed)
    policy = policy_with(gate, noisy)
    originals = _recoded(rng, n)
    originals.loc[0, [RECORD, CLASS]] = [10 * n, originals[CLASS].max()]  # at least one is in a class
    example = originals[originals[CLASS] == originals.loc[0, CLASS]].iloc[-1]
    originals.loc[0, ["region", "age", "height", "grade"]] = example[["region", "age", "height", "grade"]]
    originals = originals.drop(columns=[name for name in NOISY if name not in policy.perturbed])
    rows = np.flatnonzero((originals[CLASS] >= 0) & ((rng.random(n) < kept) | (np.arange(n) == 0)))
    released = originals.iloc[rng.permutation(rows)].reset_index(drop=True)
    for name in policy.perturbed:
        step = NOISY[name]
        drawn = rng.integers(-noise, noise + 1, len(released))
        released[name] = np.round(np.round(released[name] / step + drawn) * step, 1)
    return Made(policy, released, originals)


@pytest.fixture(scope="module", autouse=True)
def _fewer_copies() -> Iterator[None]:
    """Simulate fewer copies of a small table: gate and suite must say the same, however exact it is."""
    with pytest.MonkeyPatch.context() as patch:
        simulate_fewer(patch)
        yield


@pytest.fixture(scope="session")
def release() -> Callable[..., Made]:
    """Function that makes a release: seed and gate limits in, policy and tables out."""
    return make_release


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the hierarchy table of ``place``."""
    path = tmp_path_factory.mktemp("hierarchies")
    lines = ["Bath;South;England;*", "York;North;England;*", "Lyon;East;France;*", "Nice;South;France;*"]
    (path / "place.csv").write_text("\n".join(lines).replace("Nice;South", "Nice;Coast"), encoding="utf-8")
    return path


def batch_by_hand() -> pd.DataFrame:
    """Return a batch whose numbers can be worked out on paper.

    Classes: a (3 released), b (2 released, 1 suppressed), one record in no class.
    """
    return pd.DataFrame(
        {
            "zip": ["a", "a", "a", "b", "b", "b", None],
            "pay": [1, 2, 3, 1, 1, 4, 4],
            "ill": ["x", "y", "z", "x", "x", "y", "y"],
            "out": [True, True, True, True, True, False, False],
            "_class_id": [10, 10, 10, 4, 4, 4, -1],
            "height": [160.0, 170.0, 180.0, 150.0, 150.4, np.nan, np.nan],
            "_original_height": [160.0, 170.0, 190.0, 150.0, 150.2, 150.4, np.nan],
        },
        index=[7, 7, 3, 1, 0, 2, 5],
    )


@pytest.fixture
def by_hand() -> pd.DataFrame:
    return batch_by_hand()


@pytest.fixture(scope="session")
def policy_by_hand() -> Callable[..., dict[str, Any]]:
    """Function that returns the document of a policy on this batch, with limits as under ``gate``."""

    def make(*, epsilon: float = 1, **gate: Any) -> dict[str, Any]:
        columns = {
            "zip": {"role": "generalize", "hierarchy": {"suppress": True}},
            "height": {"role": "perturb", "resolution": 0.1},
            "ill": {"role": "sensitive"},
        }
        sections = {"perturb": {"epsilon": epsilon}, "suppress": {"confidence": 0.9}}
        return document(columns, gate={"linking": "realized", **gate}, **sections)

    return make


def judge_suite(frame: pd.DataFrame, expectations: Sequence[ReleaseExpectation]) -> list[Verdict]:
    """Judge a batch without Great Expectations around it; expectations of one layout share its case."""
    cases: dict[str, BatchCase] = {}
    verdicts = []
    for expectation in expectations:
        given = {name: getattr(expectation, name) for name in expectation.success_keys}
        layout, demand = demand_of(given, expectation.expectation_type)
        key = json.dumps(asdict(layout))
        if key not in cases:
            cases[key] = case_from(frame, layout)
        verdicts.append(demand.verdict(cases[key]))
    return verdicts


@pytest.fixture(scope="session")
def measured() -> Callable[[pd.DataFrame, ReleaseExpectation], float | None]:
    """Function that returns what an expectation observes on a batch."""
    return lambda frame, expectation: judge_suite(frame, [expectation])[0].value


@pytest.fixture(scope="session")
def judged_suite() -> Callable[[pd.DataFrame, Sequence[ReleaseExpectation]], list[Verdict]]:
    """Function that returns the verdicts of expectations on a batch."""
    return judge_suite
