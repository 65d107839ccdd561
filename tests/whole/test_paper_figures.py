"""The paper's figures 1, 2, 7 and 8, the voter lists, and the pictures of all figures."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.encode.codes import accept, code_quasi_identifiers
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.discrete_laplace_law import pmf
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.error import expected_relative_error
from anon_pipeline.recode import Recoding
from anon_pipeline.risk.linking import expected_column_linking
from benchmarks.adult import adult_policy
from benchmarks.charts import Axis, Chart, nice_top, svg
from benchmarks.curse import Coded, column_losses, curses, losses
from benchmarks.datasets import DATASETS
from benchmarks.durations import durations, seconds
from benchmarks.figures import Recoded, recoded
from benchmarks.paper import main
from benchmarks.spread import ERRORS, UNIFORM, spread, within
from benchmarks.statements import of_curse, of_durations, of_missing, of_points, of_spreads
from benchmarks.voters import FLORIDA, MICHIGAN, RACES, florida, michigan

_SMALL = 4_000


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return michigan(_SMALL)


@pytest.fixture(scope="module")
def table(small: pd.DataFrame) -> Recoded:
    return recoded(small, DATASETS["michigan"].policy(5, "ola"), entropy=seeded_entropy(0))


# The voter lists.


def test_the_lists_have_the_shapes_of_table_iii() -> None:
    assert (FLORIDA, MICHIGAN) == (134_791, 72_825)
    assert list(florida(100).columns) == [
        *("name", "surname", "address", "email", "phone"),
        *("zip", "gender", "year_of_birth", "race", "height"),
    ]
    columns = ["name", "surname", "address", "zip", "gender", "year_of_birth", "weight"]
    assert list(michigan(100).columns) == columns
    assert (len(florida()), len(michigan())) == (FLORIDA, MICHIGAN)


@pytest.mark.parametrize(("make", "zips"), [(florida, r"3[234]\d{3}"), (michigan, r"4[89]\d{3}")])
def test_voters_are_adults_of_their_state(make: Callable[..., pd.DataFrame], zips: str) -> None:
    voters = make(5_000)
    assert not voters.isna().any(axis=None)
    assert voters["zip"].str.fullmatch(zips).all()
    assert set(voters["gender"]) == {"Female", "Male"}
    assert voters["gender"].eq("Female").mean() == pytest.approx(0.53, abs=0.03)
    assert voters["year_of_birth"].between(1917, 1999).all()
    if "race" in voters:
        assert set(voters["race"]) == set(RACES)


def test_the_body_fits_the_gender() -> None:
    means = florida(5_000).groupby("gender")["height"].mean()
    assert means["Male"] - means["Female"] == pytest.approx(13, abs=1.5)
    voters = michigan()
    women = voters["gender"].eq("Female") & voters["year_of_birth"].between(1968, 1977)  # in their forties
    logs = np.log(voters.loc[women, "weight"])
    assert math.exp(logs.mean()) == pytest.approx(73.8, rel=0.02)
    assert logs.std() == pytest.approx(0.25, rel=0.05)
    assert logs.skew() == pytest.approx(0, abs=0.1)  # log-normal by age and sex


@pytest.mark.parametrize("make", [florida, michigan])
def test_a_list_is_a_function_of_the_seed(make: Callable[..., pd.DataFrame]) -> None:
    pd.testing.assert_frame_equal(make(500, seed=3), make(500, seed=3))
    assert not make(500, seed=3)["zip"].equals(make(500, seed=4)["zip"])


def test_the_policies_are_the_papers(shared_data: Path) -> None:
    own, other = DATASETS["adult"].policy(10, "ola"), adult_policy(10, 1, "ola", confidence=None)
    assert own.generalized == other.generalized
    assert (own.perturbed, own.anonymize) == (other.perturbed, other.anonymize)
    assert shared_data.is_dir()


@pytest.mark.parametrize(("name", "nodes"), [("florida", 120), ("michigan", 60)])
def test_the_lattice_grows_eight_times(name: str, nodes: int) -> None:
    dataset = DATASETS[name]
    voters = dataset.table(2_000, 0)
    assert losses(voters, dataset.policy(5, "ola")).nodes == nodes
    assert losses(voters, dataset.k_policy(5, "ola")).nodes == 8 * nodes


# Fig. 1.


def _hierarchy(*lookups: list[int], coordinates: list[float] | None = None) -> Hierarchy:
    values = tuple(np.array([f"v{i}" for i in range(max(one) + 1)], object) for one in lookups)
    at = None if coordinates is None else np.array(coordinates)
    return Hierarchy("x", tuple(np.array(one) for one in lookups), values, at)


def _recoding(labels: list[int], levels: tuple[int, ...] | None) -> Recoding:
    codes = np.array(labels, np.int64)[:, None]
    values = (np.array([str(i) for i in range(max(labels) + 1)], object),)
    return Recoding(codes, values, levels, 0.0, labels.count(-1), 0)


def test_a_full_domain_level_is_its_share_of_the_levels() -> None:
    zip_code = _hierarchy([0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0])
    coded = Coded(np.array([[0], [1], [2], [3]]), (zip_code,))
    assert column_losses(coded, _recoding([0, 0, 1, 1], (1,))) == [0.5]
    assert column_losses(coded, _recoding([0, 0, -1, -1], (1,))) == [0.75]  # suppressed: 1


def test_a_local_class_loses_its_least_common_level() -> None:
    zip_code = _hierarchy([0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0])
    coded = Coded(np.array([[0], [1], [2], [2]]), (zip_code,))
    assert column_losses(coded, _recoding([0, 0, 1, 1], None)) == [0.25]  # levels 1, 1, 0, 0 of 2
    assert column_losses(coded, _recoding([0, 1, 0, 1], None)) == [1.0]
    assert column_losses(coded, _recoding([0, 0, -1, -1], None)) == [0.75]


def test_a_local_class_of_numbers_loses_its_range() -> None:
    """[KE III-A]: [165, 180] of heights in [150, 190] loses 0.375."""
    height = _hierarchy([0, 1, 2, 3], [0, 0, 0, 0], coordinates=[150, 165, 180, 190])
    coded = Coded(np.array([[1], [2], [0], [3]]), (height,))
    assert column_losses(coded, _recoding([0, 0, 1, 1], None)) == [(0.375 + 1) / 2]


def test_losses_do_not_depend_on_the_order_of_the_records(small: pd.DataFrame) -> None:
    for recoder in ("ola", "mondrian"):
        policy = DATASETS["michigan"].k_policy(10, recoder)
        mixed = small.sample(frac=1, random_state=1)
        assert losses(small, policy).columns == losses(mixed, policy).columns


def test_levels_of_the_recoding_are_what_is_lost(small: pd.DataFrame) -> None:
    policy = DATASETS["michigan"].policy(10, "ola")
    found, staged = losses(small, policy), recoded(small, policy, entropy=seeded_entropy(0))
    assert staged.levels is not None
    assert found.suppressed == staged.suppressed / _SMALL
    assert found.classes == len(staged.classes.sizes)
    heights = {"zip": 6, "gender": 2, "year_of_birth": 5}
    for name, level in staged.levels.items():
        kept = 1 - found.suppressed
        assert found.columns[name] == pytest.approx(kept * level / (heights[name] - 1) + found.suppressed)


def test_a_numeric_class_of_mondrian_is_measured_on_the_data(small: pd.DataFrame) -> None:
    """A slow twin: ranges of years by class, from the frame itself."""
    policy = DATASETS["michigan"].policy(50, "mondrian")
    frame = accept(small, policy)
    labels = recoded(small, policy, entropy=seeded_entropy(0)).classes.labels
    years = frame["year_of_birth"].groupby(labels)
    shares = (years.transform("max") - years.transform("min")) / np.ptp(frame["year_of_birth"])
    assert losses(small, policy).columns["year_of_birth"] == pytest.approx(shares.mean(), abs=1e-12)
    zips = frame["zip"].groupby(labels)
    levels = zips.transform(
        lambda block: next(level for level in range(6) if block.str[: 5 - level].nunique() == 1)
    )
    assert losses(small, policy).columns["zip"] == pytest.approx(levels.astype(int).mean() / 5, abs=1e-12)
    assert code_quasi_identifiers(frame, policy).hierarchies[0].height == 6


def test_mondrian_loses_less_without_the_attribute(small: pd.DataFrame) -> None:
    found = curses(DATASETS["michigan"], small, ("mondrian",), (5, 50))
    assert (found["without"] < found["beside"]).all()
    assert found["without"].is_monotonic_increasing
    assert found["attribute"].between(0, 1).all()


# Fig. 2.


def test_the_share_within_an_error_is_the_sum_of_the_mass() -> None:
    values, scales = np.array([100, 250, 250]), np.array([3.0, 0.0, 20.0])
    found = within(values, scales)
    for error, share in zip(ERRORS, found, strict=True):
        parts = []
        for value, scale in zip(values.tolist(), scales.tolist(), strict=True):
            reach = math.floor(error * value + 1e-9)
            parts.append(float(pmf(np.arange(-reach, reach + 1), scale).sum()))
        assert share == pytest.approx(np.mean(parts), abs=1e-12)


def test_shares_do_not_depend_on_the_order_of_the_records(table: Recoded) -> None:
    values, scales = table.heights[:, 0], table.diameters[table.classes.labels, 0] / 2
    order = np.random.default_rng(0).permutation(len(values))
    assert within(values, scales).tolist() == within(values[order], scales[order]).tolist()


def test_the_spread_has_the_mean_of_uniform_noise(table: Recoded) -> None:
    found = spread(table, entropy=seeded_entropy(1))
    assert found.means["classes"] == pytest.approx(UNIFORM / 2, rel=1e-3)
    assert found.means["table"] > found.means["classes"]
    assert (found.curves["classes"] >= found.curves["table"]).all()
    assert found.curves.loc[found.curves["error"] >= UNIFORM, "uniform"].eq(1).all()
    assert all(one.promised and one.claim.holds for one in of_spreads([found]))


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_draw_of_another_scale_is_told(table: Recoded, factor: float) -> None:
    right = spread(table, entropy=seeded_entropy(1))
    wrong = replace(table, diameters=np.rint(table.diameters * factor).astype(np.int64))
    values, scales = table.heights[:, 0], wrong.diameters[table.classes.labels, 0] / right.epsilon
    other = replace(right, curves=right.curves.assign(classes=within(values, scales)))
    held = {one.claim.text.split(": ")[1]: one.claim.holds for one in of_spreads([other])}
    assert not held["one draw agrees with the closed form"]


# Fig. 7 and 8.


def test_a_time_is_the_median_of_the_repeats_after_one_untimed() -> None:
    ticks, calls = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0]), count()
    assert seconds(lambda: next(calls), repeats=3, clock=lambda: next(ticks)) == 2.0
    assert next(calls) == 4


def test_what_is_timed_are_the_stages(small: pd.DataFrame) -> None:
    done: list[object] = []

    def timed(call: Callable[[], object]) -> float:
        done.append(call())
        return float(len(done))

    found = durations(DATASETS["michigan"], small, [("ola", 5)], timed=timed, entropy=seeded_entropy(0))
    assert found.to_dict("records") == [
        {"recoder": "ola", "k": 5, "k_seconds": 1.0, "k_epsilon_seconds": 2.0, "noise_seconds": 3.0}
    ]
    facts = [one.facts for one in done]  # type: ignore[attr-defined]
    assert ["weight" in one["k_anonymized"]["levels"] for one in facts] == [True, False, False]
    assert ["perturbed" in one for one in facts] == [False, True, True]


# What the paper says.


def _curse(**changed: float) -> pd.DataFrame:
    row = {"without": 0.4, "beside": 0.8, "attribute": 0.5, "nodes_without": 60, "nodes_beside": 480}
    ola = [{**row, "recoder": "ola", "k": k} for k in (2, 20)]
    large = {**row, "beside": 0.41, "attribute": 0.9, "recoder": "ola", "k": 50}
    return pd.DataFrame([*ola, {**large, **changed}, {**row, "beside": 0.43, "recoder": "mondrian", "k": 2}])


def test_the_sayings_of_figure_1_hold_where_the_paper_is_right() -> None:
    assert [one.claim.holds for one in of_curse(_curse())] == [True] * 5
    assert not any(one.promised for one in of_curse(_curse()))
    held = {one.claim.text: one.claim.holds for one in of_curse(_curse(beside=0.5, attribute=0.8))}
    assert [text for text, holds in held.items() if not holds] == [
        "OLA, k > 20: the others lose the same (within 0.02)",
        "OLA, k > 20: the attribute loses over 0.8",
    ]


def test_the_sayings_of_figures_7_and_8() -> None:
    times = pd.DataFrame(
        {"recoder": ["ola", "mondrian"], "k_seconds": [20.0, 1.0], "k_epsilon_seconds": [1.0, 2.0]}
    )
    assert [one.claim.holds for one in of_durations(times)] == [True, True, True]
    assert of_durations(times)[0].claim.worst == "2.00 times as long"
    slower = times.assign(k_seconds=[2.0, 4.0])
    assert [one.claim.holds for one in of_durations(slower)] == [False, True, False]


def test_the_sayings_of_figure_5() -> None:
    points = pd.DataFrame(
        {"recoder": "ola", "k": [2, 5, 50], "epsilon": 1.0, "linking_expected": [0.3, 0.2, 0.01]}
    )
    assert [one.claim.holds for one in (*of_points(points), *of_missing(points))] == [True, True, True]
    risky = points.assign(linking_expected=[0.3, 0.1, 0.05])
    assert [one.claim.holds for one in (*of_points(risky), *of_missing(risky))] == [False, False, False]
    assert of_points(points)[0].claim.worst == "1.00% at k = 50, ε = 1"


# The pictures and the program.


def test_an_axis_goes_from_its_first_to_its_last_tick() -> None:
    line, log = Axis("x", (0, 10)), Axis("x", (1, 100), log=True)
    assert [line.place(value) for value in (-1, 0, 5, 10, 11)] == [0, 0, 0.5, 1, 1]
    assert [log.place(value) for value in (0, 1, 10, 100, 1000)] == [0, 0, 0.5, 1, 1]


@pytest.mark.parametrize("most", [0.0013, 0.2, 0.999, 1, 7, 123.4])
def test_the_top_of_an_axis_is_round_and_not_below(most: float) -> None:
    ticks = nice_top(most)
    assert ticks[0] == 0
    assert len(ticks) == 6
    assert most <= ticks[-1] <= 5 * most


def test_a_picture_has_every_point_at_its_place() -> None:
    axis = Axis("x & y", (0, 1))
    drawn = ET.fromstring(svg([Chart("<t>", axis, axis, {"a": [(1, 1), (0, 0)], "~b": [(0, math.nan)]})]))
    space = "{http://www.w3.org/2000/svg}"
    lines = drawn.findall(f"{space}polyline")
    assert [line.get("points") for line in lines] == ["58.0,254.0 358.0,34.0", ""]
    assert [line.get("stroke-dasharray") for line in lines] == [None, "5 3"]
    assert len(drawn.findall(f"{space}circle")) == 2
    assert {"<t>", "x & y", "a", "b"} <= {text.text for text in drawn.findall(f"{space}text")}


def test_the_whole_program_on_a_small_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures"
    arguments = ["--quick", "--data", "michigan", "florida", "--records", "2000", "--out", str(out)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    for title in ("Fig. 1", "Fig. 2", "Table IV", "Fig. 3 and 4", "Fig. 5", "Fig. 6", "Fig. 7 and 8"):
        assert printed.count(f"\n{title}:") >= 2
    assert printed.count("What must come out") == printed.count("What the paper says") == 2
    assert {path.name for path in out.iterdir()} == {
        *(f"figure{number}.svg" for number in range(1, 9)),
        *("figure1.csv", "figure2.csv", "figures3to6.csv", "figures7and8.csv"),
    }
    for path in out.glob("*.svg"):
        titles = [text.text or "" for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]
        for dataset in ("Michigan (generated)", "Florida (generated)"):
            assert any(title.startswith(dataset) for title in titles), path.name
    points = pd.read_csv(out / "figures3to6.csv")
    assert len(points) == 2 * 2 * 3 * 7
    assert set(points["dataset"]) == {"michigan", "florida"}


def test_only_what_is_asked_is_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--quick", "--data", "michigan", "--records", "1000", "--figures", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "\nFig. 1:" in printed
    assert "Table IV" not in printed
    assert {path.name for path in tmp_path.iterdir()} == {"figure1.svg", "figure1.csv"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--records", "10"], "--records must be at least 200"), (["--figures", "9"], "invalid choice: 9")],
)
def test_a_bad_argument_is_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_classes_of_a_recoding_are_counted_without_the_suppressed() -> None:
    assert equivalence_classes(_recoding([0, 0, -1], None).codes).sizes.tolist() == [2]


# The documented numbers.


def _documented(section: str) -> dict[int, list[str]]:
    """Return the cells of a table of docs/paper.md by k."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
    rows = text.split(f"\n## {section}")[1].split("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    return {int(row[0]): row[1:] for row in cells if row[0].isdigit()}


@pytest.mark.parametrize(("name", "column"), [("florida", 2), ("michigan", 4)])
def test_figure_1_is_documented_as_it_comes_out(name: str, column: int) -> None:
    dataset = DATASETS[name]
    found = curses(dataset, dataset.table(None, 0), ("ola", "mondrian"), (20, 100))
    documented = _documented("Fig. 1")
    for point in found.to_dict("records"):
        cell = documented[point["k"]][column + (point["recoder"] == "mondrian")]
        assert cell == f"{point['without']:.3f} → {point['beside']:.3f} ({point['attribute']:.2f})"


@pytest.mark.parametrize(("name", "column"), [("adult", 0), ("florida", 2), ("michigan", 4)])
def test_table_iv_is_documented_beside_the_papers(name: str, column: int, shared_data: Path) -> None:
    assert shared_data.is_dir()
    dataset, documented = DATASETS[name], _documented("Table IV")
    voters = dataset.table(None, 0)
    for k, share in dataset.suppressed.items():
        measured = losses(voters, dataset.policy(k, "ola")).suppressed
        assert documented[k][column : column + 2] == [f"{share:.2f}", f"{100 * measured:.2f}"]


@pytest.mark.parametrize(("name", "column"), [("florida", 2), ("michigan", 4)])
def test_error_and_linking_risk_are_documented_as_they_come_out(name: str, column: int) -> None:
    dataset = DATASETS[name]
    table = recoded(dataset.table(None, 0), dataset.policy(10, "mondrian"), entropy=seeded_entropy(0))
    heights, labels, diameters = table.heights[:, 0], table.classes.labels, table.diameters[:, 0]
    errors = [
        expected_relative_error(heights.astype(np.float64), labels, scales=diameters / epsilon)
        for epsilon in (1, 8)
    ]
    risks = [expected_column_linking(heights, labels, scales=diameters / e) for e in (0.05, 2, 16)]
    for section, found in (("Fig. 3 and 4", errors), ("Fig. 5", risks)):
        cell = " / ".join(f"{100 * (value or 0):.2f}" for value in found)
        assert _documented(section)[10][column + 1] == cell
