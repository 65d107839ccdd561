"""The paper's claims on Adult, and that the benchmarks measure what the stages of the chain do."""

from __future__ import annotations

from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import Words, fresh_key
from anon_pipeline.stages.noise_input import without_numbers
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, perturbed, raw, shuffled, suppressed
from benchmarks.adult import adult_folder, adult_policy, find_adult, paper_table
from benchmarks.claims import Claim, agreement, claims, deviations
from benchmarks.figures import EPSILONS, Recoded, figures, point, recoded, run
from benchmarks.paper import main
from benchmarks.rows import WORK
from benchmarks.speed import ROWS

_RUNS = 3
_TABLES = [("ola", 2), ("ola", 20), ("ola", 100), ("mondrian", 2), ("mondrian", 10), ("mondrian", 50)]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> pd.DataFrame:
    return paper_table(shared_data / "adult")


@pytest.fixture(scope="module")
def tables(adult: pd.DataFrame) -> dict[tuple[str, int], Recoded]:
    entropy = seeded_entropy(0)
    return {
        (recoder, k): recoded(adult, adult_policy(k, 1, recoder), entropy=entropy) for recoder, k in _TABLES
    }


@pytest.fixture(scope="module")
def points(tables: dict[tuple[str, int], Recoded]) -> pd.DataFrame:
    return figures(tables.values(), runs=_RUNS, entropy=seeded_entropy(1))


def test_adult_is_the_table_of_the_paper(adult: pd.DataFrame) -> None:
    assert list(adult.columns) == [
        *("patient_id", "name", "email", "year_of_birth", "sex", "race", "marital-status", "height"),
        "salary-class",
    ]
    assert len(adult) == 30_162 == adult["patient_id"].nunique()
    assert (adult["year_of_birth"].min(), adult["year_of_birth"].max()) == (1904, 1977)  # ages 90 and 17
    means = adult.groupby("sex")["height"].mean()
    assert means["Male"] - means["Female"] == pytest.approx(13, abs=1)
    tenths = adult["height"] * 10
    assert np.allclose(tenths, tenths.round(), rtol=0, atol=1e-9)


def test_the_made_up_columns_are_a_function_of_the_seed(shared_data: Path, adult: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(paper_table(shared_data / "adult"), adult)
    other = paper_table(shared_data / "adult", seed=1)
    assert (other["height"] != adult["height"]).mean() > 0.9
    assert other["race"].equals(adult["race"])


def test_without_the_data_the_message_says_where_it_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANON_PIPELINE_DATA", str(tmp_path))
    assert find_adult() is None
    with pytest.raises(SystemExit, match="ANON_PIPELINE_DATA"):
        adult_folder()


@pytest.mark.parametrize(("k", "width"), [(2, 1), (20, 8), (100, 100_000)])
def test_table_iv_counts_the_records_of_small_classes(
    adult: pd.DataFrame, tables: dict[tuple[str, int], Recoded], k: int, width: int
) -> None:
    table = tables["ola", k]
    birth = adult["year_of_birth"] // width
    sizes = adult.groupby([birth, adult["sex"], adult["race"], adult["marital-status"]])["sex"].transform(
        "size"
    )
    assert table.suppressed == (sizes < k).sum()
    assert 0 < table.suppressed <= 0.05 * len(adult)
    assert table.classes.k == sizes[sizes >= k].min()


def test_mondrian_suppresses_nothing_and_makes_smaller_classes(
    tables: dict[tuple[str, int], Recoded],
) -> None:
    for k in (10, 50):
        assert tables["mondrian", k].suppressed == 0
        assert tables["mondrian", k].classes.k >= k
    assert len(tables["mondrian", 2].classes.sizes) > len(tables["ola", 2].classes.sizes)


def test_error_is_below_5_percent_from_epsilon_8_on(points: pd.DataFrame) -> None:
    found = points[points["epsilon"] >= 8]
    assert len(found) == 2 * len(_TABLES)
    assert found["error"].max() < 0.05
    assert found["error_expected"].max() < 0.05


def test_error_is_inverse_to_epsilon(points: pd.DataFrame) -> None:
    """[KE (8)]; for discrete noise up to the grid, which tells at large ε."""
    product = (points["error_expected"] * points["epsilon"]).groupby([points["recoder"], points["k"]])
    assert (product.max() / product.min() < 1.001).all()


def test_linking_risk_falls_with_k_and_rises_with_epsilon(points: pd.DataFrame) -> None:
    for _, block in points.groupby("recoder"):
        risk = block.pivot(index="k", columns="epsilon", values="linking_expected")
        assert (np.diff(risk, axis=0) < 0).all()
        assert (np.diff(risk, axis=1) > 0).all()
        realized = block.pivot(index="k", columns="epsilon", values="linking")
        assert (np.diff(realized, axis=0) < 0).all()
        assert (realized[16.0] > realized[0.05]).all()


def test_linking_risk_is_below_5_percent(points: pd.DataFrame) -> None:
    ola = points[(points["recoder"] == "ola") & (points["k"] >= 20)]
    mondrian = points[(points["recoder"] == "mondrian") & (points["k"] >= 10) & (points["epsilon"] <= 2)]
    assert (len(ola), len(mondrian)) == (14, 8)
    for name in ("linking", "linking_expected"):
        assert ola[name].max() < 0.05
        assert mondrian[name].max() < 0.05


def test_extra_suppression_is_below_2_percent_up_to_epsilon_2(points: pd.DataFrame) -> None:
    assert points.loc[points["epsilon"] <= 2, "extra"].max() < 0.02
    assert points.loc[points["epsilon"] == 16, "extra"].min() > 0.02  # less noise, more to suppress


def test_expected_and_realized_agree(points: pd.DataFrame) -> None:
    for name in ("error", "linking"):
        assert np.allclose(points[name], points[f"{name}_expected"], rtol=0.15)
    assert agreement(points).holds


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_agreement_fails_where_the_noise_has_another_scale(
    tables: dict[tuple[str, int], Recoded], factor: float
) -> None:
    some = [tables["ola", 20], tables["mondrian", 10]]
    wrong = [replace(table, diameters=np.rint(table.diameters * factor).astype(np.int64)) for table in some]
    assert not agreement(figures(wrong, runs=_RUNS, entropy=seeded_entropy(1))).holds


def test_all_claims_hold_and_are_those_of_the_issue(points: pd.DataFrame) -> None:
    found = claims(points)
    assert [claim.text for claim in found] == [
        "error < 5 % for ε ≥ 8",
        "linking risk falls with k (closed form)",
        "linking risk rises with ε (closed form)",
        "linking risk < 5 % with OLA, k ≥ 20, every ε",
        "linking risk < 5 % with Mondrian, k ≥ 10, ε ≤ 2",
        "extra suppression < 2 % for ε ≤ 2",
        "expected and realized agree within sampling error (3 runs)",
    ]
    assert [claim for claim in found if not claim.holds] == []


@pytest.mark.parametrize(
    ("column", "at", "value", "broken"),
    [
        ("error", ("ola", 2, 8.0), 0.05, {"error"}),
        ("error_expected", ("mondrian", 2, 16.0), np.nan, {"error"}),
        ("linking", ("ola", 20, 16.0), 0.05, {"ola"}),
        ("linking", ("mondrian", 10, 2.0), 0.05, {"mondrian"}),
        ("linking_expected", ("ola", 20, 0.05), 0.5, {"ola", "falls", "rises"}),
        ("linking_expected", ("ola", 100, 16.0), 0.0, {"rises"}),
        ("extra", ("mondrian", 50, 2.0), 0.02, {"extra"}),
    ],
)
def test_a_claim_that_does_not_hold_is_told_with_its_worst_point(
    points: pd.DataFrame, column: str, at: tuple[str, int, float], value: float, broken: set[str]
) -> None:
    changed = points.copy()
    changed.loc[(points[["recoder", "k", "epsilon"]] == list(at)).all(axis=1), column] = value
    found = dict(
        zip(
            ("error", "falls", "rises", "ola", "mondrian", "extra"),
            claims(changed)[:-1],
            strict=True,
        )
    )
    assert {name for name, claim in found.items() if not claim.holds} == broken
    for name in broken - {"falls", "rises"}:
        assert found[name].worst.endswith(f"at {at[0]}, k = {at[1]}, ε = {at[2]:g}")


def test_a_run_measures_what_the_stages_do(adult: pd.DataFrame) -> None:
    policy = adult_policy(10, 16, "ola")
    staged = deidentified(policy, raw(policy, adult, entropy=seeded_entropy(3)), key=None)
    before = k_anonymized(policy, staged)
    noisy = perturbed(policy, before, entropy=seeded_entropy(5))
    after = suppressed(policy, shuffled(policy, noisy, entropy=seeded_entropy(6)), before)
    table = recoded(adult, policy, entropy=seeded_entropy(4))
    places = canonical_form(without_numbers(before.frame)).places[(before.frame[CLASS] >= 0).to_numpy()]
    measured = run(table, Fraction(16), entropy=Words(fresh_key(seeded_entropy(5)), places))

    facts = after.facts["suppressed"]
    assert facts["suppressed_unconfident"] > 0
    extra = facts["suppressed_unconfident"] + facts["suppressed_small_classes"]
    assert measured.extra * len(adult) == pytest.approx(extra, abs=1e-6)
    assert table.suppressed + extra == facts["suppressed_in_all"]
    evidence = evidence_from(noisy.frame, policy, originals=before.frame)
    assert measured.linking == linking_risk(evidence, policy).risk
    heights = adult["height"][before.frame["_class_id"] >= 0].to_numpy()
    error = np.abs(noisy.frame["height"].to_numpy() - heights) / heights
    assert measured.error == pytest.approx(error.mean(), rel=1e-9)
    expected = point(table, 16.0, runs=2, entropy=seeded_entropy(0)).error_expected
    shown = noisy.facts["perturbed"]["columns"]["height"]["expected_relative_error"]
    assert shown == float(f"{expected:.2g}")


def test_the_same_seed_gives_the_same_points(tables: dict[tuple[str, int], Recoded]) -> None:
    some = tables["ola", 100]
    first, second = (point(some, 2.0, runs=2, entropy=seeded_entropy(9)) for _ in range(2))
    assert asdict(first) == asdict(second)


def test_one_run_has_no_standard_error(tables: dict[tuple[str, int], Recoded]) -> None:
    with pytest.raises(ValueError, match="runs must be at least 2"):
        figures(tables.values(), runs=1, entropy=seeded_entropy(0))


def test_the_figures_are_printed_with_the_claims(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shared_data.is_dir()
    assert main(["--quick", "--data", "adult", "--figures", "3", "4", "5", "6"]) == 0
    printed = capsys.readouterr().out
    for title in ("Table IV", "Fig. 3 and 4", "Fig. 5", "Fig. 6", "What must come out"):
        assert title in printed
    promised, said = printed.split("What must come out")[1].split("What the paper says")
    assert promised.count("  ✓ ") == 7
    assert "✗" not in promised
    assert said.count("  ✓ ") + said.count("  ✗ ") == 4
    assert all(f"ε = {epsilon:g}" in printed for epsilon in EPSILONS)


def test_every_row_of_the_speed_table_has_work() -> None:
    assert {row.name for row in ROWS} == set(WORK) | {"import", "help"}
    assert len({row.title for row in ROWS if not row.title.startswith("the same")}) == len(ROWS) - 3


def test_deviations_are_in_standard_errors() -> None:
    some = pd.DataFrame(
        {"error": [0.2], "error_expected": [0.1], "error_se": [0.05]}
        | {"linking": [0.1], "linking_expected": [0.4], "linking_se": [0.1]}
    )
    assert deviations(some).to_numpy().tolist() == [[pytest.approx(2), pytest.approx(-3)]]


def test_claims_about_points_that_are_not_there_are_left_out(points: pd.DataFrame) -> None:
    ola = points[(points["recoder"] == "ola") & (points["k"] == 2) & (points["epsilon"] == 4.0)]
    found: list[Claim] = claims(ola)
    assert [claim.text for claim in found] == ["expected and realized agree within sampling error (3 runs)"]
