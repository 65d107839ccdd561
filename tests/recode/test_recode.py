"""The one door to all recoders: k within the limit or InfeasibleError, whatever the row order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Progress, Recoding, recode
from tests.example_counts import examples_of
from tests.recode.asking import ask, limit_of

MICROAGGREGATION = tuple(n for n, r in RECODERS.items() if r.family.name == "microaggregation")


def asked(
    codes: np.ndarray, hierarchies: Sequence[Any], *, k: int, max_suppressed: int, **how: Any
) -> Recoding:
    """Ask the door for k-anonymity alone."""
    return recode(ask(codes, tuple(hierarchies), Constraints(k, max_suppressed), **how))


LOSSES = ["precision", "granularity", "discernibility", "average_class_size", "entropy"]
FULL_DOMAIN = ["ola", "optimal"]
PARTICULAR = ("univariate", "tclose_first", "fixed")  # they need certain columns, or levels
ANY_TABLE = [name for name in RECODERS if name not in PARTICULAR]


def draw_question(
    data: st.DataObject, drawn: SimpleNamespace
) -> tuple[np.ndarray, list[Any], dict[str, Any]]:
    codes, hierarchies = data.draw(drawn.tables(least=0))
    options = {
        "k": data.draw(st.integers(1, len(codes) + 2)),
        "max_suppressed": data.draw(st.integers(-1, len(codes) + 1)),
        "loss": data.draw(st.sampled_from(LOSSES)),
    }
    return codes, hierarchies, options


@pytest.mark.parametrize("recoder", ANY_TABLE)
@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_a_release_keeps_k_and_the_limit_or_there_is_none(
    data: st.DataObject, drawn: SimpleNamespace, recoder: Any
) -> None:
    codes, hierarchies, options = draw_question(data, drawn)
    k, limit = options["k"], options["max_suppressed"]
    if len(codes) < k or limit < 0:
        with pytest.raises(InfeasibleError):
            asked(codes, hierarchies, recoder=recoder, **options)
        return
    recoding = asked(codes, hierarchies, recoder=recoder, **options)
    classes = equivalence_classes(recoding.codes)
    assert classes.k >= k
    assert recoding.suppressed == int((recoding.codes < 0).all(axis=1).sum()) <= limit
    assert ((recoding.codes < 0).all(axis=1) == (recoding.codes < 0).any(axis=1)).all()
    assert 0 <= recoding.loss <= 1
    assert recoding.codes.shape == codes.shape


@pytest.mark.parametrize("recoder", ["ola", "optimal", "mondrian"])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_each_record_is_released_alike_in_any_row_order(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, recoder: Any
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, len(codes)))
    order = np.array(data.draw(st.permutations(range(len(codes)))))
    options: dict[str, Any] = {"k": k, "max_suppressed": 2, "recoder": recoder, "loss": "granularity"}
    one, two = asked(codes, hierarchies, **options), asked(codes[order], hierarchies, **options)
    assert [brute.released(one)[record] for record in order] == brute.released(two)
    assert (one.loss, one.levels, one.suppressed, one.checked) == (
        two.loss,
        two.levels,
        two.suppressed,
        two.checked,
    )


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_relaxed_releases_equal_records_alike_in_number(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, len(codes)))
    order = np.array(data.draw(st.permutations(range(len(codes)))))
    options: dict[str, Any] = {
        "k": k,
        "max_suppressed": 0,
        "recoder": "mondrian_relaxed",
        "loss": "precision",
    }
    seen = []
    for rows in (codes, codes[order]):
        recoding = asked(rows, hierarchies, **options)
        seen.append(
            (Counter(zip(map(tuple, rows.tolist()), brute.released(recoding), strict=True)), recoding.loss)
        )
    assert seen[0] == seen[1]


@pytest.mark.parametrize("recoder", RECODERS)
def test_more_than_all_records_is_infeasible_and_says_what_could_be_reached(recoder: Any, from_rows) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    with pytest.raises(InfeasibleError) as caught:
        asked(
            np.array([[0], [1], [1]]), [hierarchy], k=4, max_suppressed=1, recoder=recoder, loss="precision"
        )
    assert (caught.value.k, caught.value.reached_k, caught.value.suppressed) == (4, 3, 1.0)
    assert str(caught.value) == (
        "k must be at most the number of records (3), got 4. Lower k. "
        "On a terminal, --show-values says by how much."
    )
    assert caught.value.exact == (
        "Largest k within the suppression limit: 3. Keeping all limits would suppress 100.00% of the records."
    )


@pytest.mark.parametrize("recoder", RECODERS)
def test_no_records_is_infeasible(recoder: Any, from_rows) -> None:
    with pytest.raises(InfeasibleError) as caught:
        asked(
            np.zeros((0, 1), np.int64),
            [from_rows("x", [("a", "*")])],
            k=2,
            max_suppressed=0,
            recoder=recoder,
            loss="granularity",
        )
    assert caught.value.reached_k == 0


@pytest.mark.parametrize("recoder", RECODERS)
def test_a_limit_already_used_up_is_infeasible(recoder: Any, from_rows) -> None:
    with pytest.raises(InfeasibleError, match="left out before recoding") as caught:
        asked(
            np.zeros((9, 1), np.int64),
            [from_rows("x", [("a", "*"), ("b", "*")])],
            k=2,
            max_suppressed=-3,
            recoder=recoder,
            loss="precision",
        )
    assert (caught.value.reached_k, caught.value.suppressed) == (0, 0.0)


@pytest.mark.parametrize("recoder", FULL_DOMAIN)
def test_a_lattice_too_large_is_refused(recoder: Any, from_rows) -> None:
    hierarchies = [
        from_rows(f"c{column}", [("a", "a", "a", "*"), ("b", "b", "b", "*")]) for column in range(14)
    ]
    codes = np.zeros((5, 14), np.int64)
    options: dict[str, Any] = {"k": 2, "max_suppressed": 0, "loss": "precision"}
    with pytest.raises(
        InputError, match="Use fewer levels, fewer columns to generalize, or a Mondrian recoder"
    ):
        asked(codes, hierarchies, recoder=recoder, **options)
    assert asked(codes, hierarchies, recoder="mondrian", **options).loss == 0


@pytest.mark.parametrize("wrong", [{"recoder": "best"}, {"loss": "beauty"}, {"k": 0}])
def test_wrong_options_are_refused(wrong: dict[str, Any], from_rows) -> None:
    options: dict[str, Any] = {"k": 2, "max_suppressed": 0, "recoder": "ola", "loss": "precision"} | wrong
    with pytest.raises(ValueError, match="must get a known recoder and loss and k ≥ 1"):
        asked(np.zeros((3, 1), np.int64), [from_rows("x", [("a", "*")])], **options)


@pytest.mark.parametrize("recoder", [name for name in ANY_TABLE if name not in MICROAGGREGATION])
def test_missing_values_count(recoder: Any, brute: SimpleNamespace) -> None:
    """Dropping the two missing records would leave two clean classes of 2 and report k = 2 for k = 1."""
    from anon_pipeline.hierarchy.hierarchy import Hierarchy

    values = np.array(["a", "b", None], object), np.array(["*"], object)
    hierarchy = Hierarchy("x", (np.arange(3), np.zeros(3, np.int64)), values)
    codes = np.array([[0], [0], [1], [1], [2]])
    recoding = asked(codes, [hierarchy], k=2, max_suppressed=0, recoder=recoder, loss="precision")
    got = brute.released(recoding)
    assert got[4] == ("*",)
    assert equivalence_classes(recoding.codes).k >= 2
    pair = asked(
        np.array([[0], [0], [2], [2]]), [hierarchy], k=2, max_suppressed=0, recoder=recoder, loss="precision"
    )
    assert brute.released(pair) == [("a",), ("a",), (None,), (None,)]


def test_the_package_imports_without_numba() -> None:
    code = "import sys, anon_pipeline.recode.task, anon_pipeline.recode; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kernels_are_compiled_once_whatever_the_layout(from_rows) -> None:
    """A second signature would cost a compilation in the middle of a run."""
    from anon_pipeline.recode.fulldomain.kernels import count_sizes, price, roll_up
    from anon_pipeline.recode.mondrian.kernels import advance

    hierarchies = [
        from_rows(name, [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]) for name in ("x", "y")
    ]
    rows = np.array([[0, 0], [1, 2], [2, 1], [0, 2], [1, 1], [0, 0]])
    counts = []
    for codes in (rows, np.asfortranarray(rows), rows[:, ::-1], rows.astype(np.int32), rows[:5], rows[:1]):
        for recoder in ANY_TABLE:
            asked(codes, hierarchies, k=1, max_suppressed=1, recoder=recoder, loss="granularity")
        counts.append([len(kernel.signatures) for kernel in (count_sizes, price, roll_up, advance)])
    assert counts == counts[:1] * 6


ROOT = Path(__file__).resolve().parents[2]

_SEARCH = """
import signal
import sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in its background
import numpy as np
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Task, recode
from anon_pipeline.recode.by_record import by_record

lookups = (np.arange(64), np.arange(64) // 4, np.arange(64) // 16, np.zeros(64, np.int64))
values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(9))
codes = np.random.default_rng(1).integers(0, 64, (20_000, 9))

def told(progress):
    if progress.doing == "searching" and progress.counted > 30:
        print("searching", flush=True)

import click
from anon_pipeline import cli

@click.command()
def search():
    records = by_record(codes, hierarchies)
    limits = Constraints(5, 1000)
    recode(Task(hierarchies, limits, "optimal", "average_class_size", told=told, by_record=records))

cli.cli.add_command(search)
sys.argv = ["anon-pipeline", "search"]
cli.main()
"""


@pytest.fixture
def searching() -> Any:
    """A child process in the middle of a search of 262,144 nodes."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SEARCH],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def test_an_interrupt_ends_a_search_without_a_traceback(searching: Any) -> None:
    assert searching.stdout.readline() == "searching\n"
    searching.send_signal(signal.SIGINT)
    _, errors = searching.communicate(timeout=10)
    assert searching.returncode == 130
    assert "Aborted!" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("recoder", ["optimal", "ola"])
def test_a_search_tells_what_it_does(recoder: str, from_rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_pipeline.recode.fulldomain import search

    monkeypatch.setattr(search, "_TELL", 0.0)
    heard: list[Progress] = []
    rows = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")]
    hierarchies = tuple(from_rows(name, rows) for name in "xyz")
    codes = np.random.default_rng(2).integers(0, 3, (40, 3))
    task = ask(codes, hierarchies, Constraints(4, 2), recoder, told=heard.append)
    recoding = recode(task)
    assert heard[0] == Progress("loading")
    assert {progress.doing for progress in heard[1:]} == {"searching"}
    counted = [progress.counted for progress in heard[1:]]
    assert counted == list(range(1, recoding.checked + 1))
    assert all(0 <= progress.left <= 27 for progress in heard)


@pytest.mark.parametrize("recoder", ["mdav", "vmdav", "kanon_first", "tclose_first", "mondrian"])
def test_a_long_division_tells_how_many_records_are_in_classes(
    recoder: str, from_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_pipeline.recode.microaggregation import algorithms as clusters
    from anon_pipeline.recode.microaggregation import slices
    from anon_pipeline.recode.mondrian import division as classes

    monkeypatch.setattr(classes, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(clusters, "_rounds", lambda *_: 1)
    monkeypatch.setattr(slices, "_STEP", 1)
    hierarchy = from_rows("x", [(letter, "*") for letter in "abcdefgh"])
    codes, secret = np.arange(64).reshape(-1, 1) % 8, np.arange(64) // 8 % 8
    limit = limit_of("pay", secret, np.bincount(secret), "ordered", t=0.5)
    told: list[Progress] = []
    recode(ask(codes, (hierarchy,), Constraints(4, 64, (limit,)), recoder, told=told.append))
    steps = [far for far in told if far.doing == "dividing"]
    assert len(steps) > 2
    assert all(far.counted + far.left == 64 for far in steps)
    assert [far.counted for far in steps] == sorted(far.counted for far in steps)


SETS = {"a": ["sex", "age", "race", "marital-status"]}
SETS["b"] = [*SETS["a"], "education", "native-country", "workclass", "occupation"]


@pytest.fixture(scope="module")
def adult(
    shared_data: Path, from_rows: Callable[..., Hierarchy], encode_column: Callable[..., np.ndarray]
) -> Any:
    frame = pd.read_csv(shared_data / "adult" / "adult.csv", sep=";", dtype=str)
    hierarchies = {}
    for column in SETS["b"]:
        lines = (shared_data / "adult" / f"adult_hierarchy_{column}.csv").read_text().splitlines()
        hierarchies[column] = from_rows(column, [line.split(";") for line in lines], numeric=column == "age")
    codes = {column: encode_column(frame[column], hierarchy) for column, hierarchy in hierarchies.items()}

    def table(name: str) -> tuple[np.ndarray, list[Hierarchy]]:
        columns = SETS[name]
        return np.stack([codes[column] for column in columns], axis=1), [hierarchies[c] for c in columns]

    return table


@pytest.mark.parametrize("position", range(6))
def test_the_optimum_is_arx_s(adult: Any, shared_golden: Path, position: int) -> None:
    optimum = json.loads((shared_golden / "adult_optima.json").read_text())["optima"][position]
    codes, hierarchies = adult(optimum["set"])
    recoding = asked(
        codes,
        hierarchies,
        k=optimum["k"],
        max_suppressed=int(len(codes) * optimum["suppression_limit"]),
        recoder="optimal",
        loss=optimum["loss"],
    )
    assert dict(zip(SETS[optimum["set"]], recoding.levels or (), strict=True)) == optimum["levels"]
    assert recoding.loss == pytest.approx(optimum["score"], abs=1e-9)
    assert recoding.suppressed == optimum["suppressed"]
    classes = equivalence_classes(recoding.codes)
    assert (len(classes.sizes), classes.k >= 5) == (optimum["classes"], True)


def test_all_optima_are_tested(shared_golden: Path) -> None:
    assert len(json.loads((shared_golden / "adult_optima.json").read_text())["optima"]) == 6


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed"])
@pytest.mark.parametrize("k", [2, 10, 100])
def test_mondrian_keeps_k_and_loses_less_than_any_node(adult: Any, recoder: Any, k: int) -> None:
    codes, hierarchies = adult("b")
    options: dict[str, Any] = {"k": k, "max_suppressed": 0, "loss": "granularity"}
    local = asked(codes, hierarchies, recoder=recoder, **options)
    assert equivalence_classes(local.codes).k >= k
    assert local.loss < asked(codes, hierarchies, recoder="optimal", **options).loss


def test_ola_is_best_among_its_minimal_nodes_and_optimal_no_worse(adult: Any) -> None:
    codes, hierarchies = adult("a")
    options: dict[str, Any] = {"k": 10, "max_suppressed": len(codes) // 20, "loss": "precision"}
    ola, optimal = (asked(codes, hierarchies, recoder=name, **options) for name in ("ola", "optimal"))
    assert optimal.loss <= ola.loss
    assert max(ola.suppressed, optimal.suppressed) <= len(codes) // 20
