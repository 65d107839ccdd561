"""Synthetic patients: the table by hand, its patterns, and its marginals against the reference tables."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anon_pipeline.base.errors import InputError
from anon_pipeline.sources.patients import DIAGNOSES, heights, patients, weights
from anon_pipeline.sources.reference import (
    CORRELATION,
    HEIGHTS_CM,
    WEIGHTS_KG,
)
from tests.sources.tables import STRATA, ages


def decades(table: pd.DataFrame) -> pd.Series:
    """0 for 20-29 (and younger) to 6 for 80 and over."""
    return (ages(table) // 10 - 2).clip(0, 6)


def band(table: pd.DataFrame, sex: str, decade: int) -> pd.DataFrame:
    return table[(table["sex"] == sex) & (decades(table) == decade)]


class TestSchema:
    def test_columns_and_types(self, frame: pd.DataFrame) -> None:
        assert list({column: str(kind) for column, kind in frame.dtypes.items()}.items()) == list(
            {
                "name": "str",
                "ssn": "str",
                "email": "str",
                "phone": "str",
                "birth_date": "datetime64[s]",
                "sex": "str",
                "zip": "str",
                "race": "str",
                "marital_status": "str",
                "height_cm": "float64",
                "weight_kg": "float64",
                "systolic": "int64",
                "diastolic": "int64",
                "diagnosis": "str",
                "charges": "int64",
            }.items()
        )

    def test_default_is_20_000_with_a_plain_index(self, frame: pd.DataFrame) -> None:
        assert frame.index.equals(pd.RangeIndex(20_000))

    def test_values_of_the_categories(self, frame: pd.DataFrame) -> None:
        assert set(frame["sex"]) == {"Female", "Male"}
        assert set(frame["race"].dropna()) == {
            "White",
            "Black",
            "Hispanic",
            "Asian",
            "American Indian",
            "Other",
        }
        assert set(frame["marital_status"].dropna()) == {
            "Never married",
            "Married",
            "Separated",
            "Divorced",
            "Widowed",
        }

    def test_one_patient(self) -> None:
        single = patients(1, seed=3)
        assert single.shape == (1, 15)
        assert single.drop(columns=["race", "marital_status", "weight_kg"]).notna().all(axis=None)
        assert dict(single.dtypes) == dict(patients(2).dtypes)


class TestSeed:
    def test_the_same_seed_gives_the_same_table(self, frame: pd.DataFrame) -> None:
        np.random.default_rng().random()
        pd.testing.assert_frame_equal(frame, patients(20_000, seed=0))

    def test_other_seeds_differ_in_every_column(self) -> None:
        one, other = patients(500, seed=1), patients(500, seed=2)
        assert [c for c in one if one[c].equals(other[c])] == []

    def test_the_global_generator_is_neither_used_nor_moved(self) -> None:
        np.random.seed(5)
        before = np.random.get_state()[1].tolist()  # type: ignore[index]
        patients(100)
        assert np.random.get_state()[1].tolist() == before  # type: ignore[index]


class TestBadInput:
    @pytest.mark.parametrize("records", [0, -1, -20_000, 10_000_001])
    def test_number_of_records(self, records: int) -> None:
        with pytest.raises(InputError) as caught:
            patients(records)
        assert caught.value.problems == (
            f"`records` must be 1 to 10,000,000, got {records}. Ask for at least one patient.",
        )

    def test_every_culprit_at_once(self) -> None:
        with pytest.raises(InputError) as caught:
            patients(0, seed=-1)
        assert [problem.split()[0] for problem in caught.value.problems] == ["`records`", "`seed`"]

    def test_bodies_count_but_never_quote(self) -> None:
        with pytest.raises(InputError) as caught:
            heights([16, 30, math.nan, 121], ["Male", "secret", "Male", None], rng=np.random.default_rng(0))
        assert caught.value.problems == (
            "`sex` must be Female or Male; 2 people have another value. Recode them first.",
            "`age` must be 17 to 120 years; 3 people have another age. The tables are of adults.",
        )

    @pytest.mark.parametrize("draws", [heights, weights])
    def test_bodies_of_different_lengths(self, draws) -> None:
        with pytest.raises(InputError, match=r"shapes \(2,\) and \(1,\)"):
            draws([30, 40], ["Male"], rng=np.random.default_rng(0))

    def test_weights_need_a_height_per_person(self) -> None:
        with pytest.raises(InputError, match="got 1 for 2 people"):
            weights([30, 40], ["Male", "Male"], rng=np.random.default_rng(0), height_cm=[170.0])


class TestBodies:
    @pytest.mark.parametrize(("sex", "decade"), STRATA)
    def test_height_by_sex_and_decade(self, large: pd.DataFrame, sex: str, decade: int) -> None:
        sample = band(large, sex, decade)["height_cm"]
        mean, deviation = HEIGHTS_CM[sex][decade]
        assert len(sample) > 2_000
        assert abs(sample.mean() - mean) < 4 * deviation / math.sqrt(len(sample))
        assert abs(sample.std() - deviation) < 4 * deviation / math.sqrt(2 * len(sample))

    @pytest.mark.parametrize(("sex", "decade"), STRATA)
    def test_weight_by_sex_and_decade(self, large: pd.DataFrame, sex: str, decade: int) -> None:
        sample = np.log(band(large, sex, decade)["weight_kg"].dropna())
        median, spread = WEIGHTS_KG[sex][decade]
        assert abs(sample.mean() - math.log(median)) < 4 * spread / math.sqrt(len(sample))
        assert abs(sample.std() - spread) < 4 * spread / math.sqrt(2 * len(sample))

    @pytest.mark.parametrize(("sex", "decade"), STRATA)
    def test_height_and_weight_belong_together(self, large: pd.DataFrame, sex: str, decade: int) -> None:
        both = band(large, sex, decade).dropna(subset=["weight_kg"])
        got = np.corrcoef(both["height_cm"], np.log(both["weight_kg"]))[0, 1]
        assert abs(np.arctanh(got) - np.arctanh(CORRELATION)) < 4 / math.sqrt(len(both) - 3)

    @pytest.mark.parametrize("seed", range(3))
    def test_heights_are_normal(self, seed: int) -> None:
        drawn = heights(np.full(20_000, 44), np.full(20_000, "Male"), rng=np.random.default_rng(seed))
        jitter = np.random.default_rng(100 + seed).uniform(-0.05, 0.05, 20_000)
        assert stats.kstest(drawn + jitter, "norm", HEIGHTS_CM["Male"][2]).pvalue > 1e-3

    def test_without_heights_the_weights_are_independent(self) -> None:
        rng = np.random.default_rng(4)
        age, sex = np.full(20_000, 35), np.full(20_000, "Female")
        tall, heavy = heights(age, sex, rng=rng), weights(age, sex, rng=rng)
        assert abs(np.corrcoef(tall, np.log(heavy))[0, 1]) < 4 / math.sqrt(20_000)

    def test_grid_of_a_tenth(self, frame: pd.DataFrame) -> None:
        for column in ("height_cm", "weight_kg"):
            values = frame[column].dropna().to_numpy()
            assert (values == np.round(values, 1)).all()
            assert len(set(np.rint(values * 10).astype(int) % 10)) == 10

    def test_ages_of_adult_and_frame_columns_are_accepted(self) -> None:
        table = pd.DataFrame(
            {"age": [17, 19, 90], "sex": pd.array(["Male", "Female", "Female"], dtype="str")}
        )
        drawn = heights(table["age"], table["sex"], rng=np.random.default_rng(8))
        again = heights([25, 25, 85], ["Male", "Female", "Female"], rng=np.random.default_rng(8))
        assert drawn.tolist() == again.tolist()

    def test_nobody(self) -> None:
        assert heights([], np.array([], dtype=str), rng=np.random.default_rng(0)).tolist() == []


class TestPeopleAndMedicine:
    def test_ages_are_18_to_95_and_all_occur(self, large: pd.DataFrame) -> None:
        assert sorted(set(ages(large))) == list(range(18, 96))

    def test_age_structure(self, large: pd.DataFrame) -> None:
        age = ages(large)
        assert age.between(18, 24).mean() == pytest.approx(30.2 / 255.0, abs=0.004)
        assert age.between(25, 44).mean() == pytest.approx(87.8 / 255.0, abs=0.005)
        assert age.between(45, 64).mean() == pytest.approx(83.2 / 255.0, abs=0.005)
        assert (age >= 65).mean() == pytest.approx(53.8 / 255.0, abs=0.004)

    def test_birthdays_fill_the_year(self, large: pd.DataFrame) -> None:
        days = large["birth_date"].dt.strftime("%m-%d")
        assert days.nunique() == 366
        assert (days == "02-29").mean() == pytest.approx(0.25 / 366, rel=0.4)
        assert (large["birth_date"] == large["birth_date"].dt.normalize()).all()

    def test_women_outlive_men(self, large: pd.DataFrame) -> None:
        women = large["sex"] == "Female"
        age = ages(large)
        assert women[age < 30].mean() == pytest.approx(0.49, abs=0.012)
        assert women[age >= 85].mean() == pytest.approx((4.0 * 0.62 + 2.1 * 0.68) / 6.1, abs=0.03)

    def test_marital_status_by_age(self, large: pd.DataFrame) -> None:
        shares = pd.crosstab(
            pd.cut(ages(large), [17, 24, 44, 64, 95]), large["marital_status"], normalize="index"
        )
        assert shares["Never married"].is_monotonic_decreasing
        assert shares["Widowed"].is_monotonic_increasing
        assert shares["Never married"].iloc[0] > 0.9
        assert shares["Married"].iloc[2] > 0.5
        old = large[ages(large) >= 85].groupby("sex")["marital_status"]
        widowed = old.value_counts(normalize=True).xs("Widowed", level=1)
        assert widowed["Female"] == pytest.approx(0.72, abs=0.05)
        assert widowed["Male"] == pytest.approx(0.36, abs=0.05)

    def test_nothing_impossible(self, large: pd.DataFrame) -> None:
        age, diagnosis, sex = ages(large), large["diagnosis"], large["sex"]
        assert set(sex[diagnosis.str.contains("rostat")]) == {"Male"}
        pregnant = diagnosis.isin(DIAGNOSES["O00-O9A Pregnancy"])
        assert pregnant.sum() > 1_000
        assert set(sex[pregnant]) == {"Female"}
        assert age[pregnant].max() == 49
        assert age[diagnosis == "Alzheimer disease"].min() >= 50
        assert (large["systolic"] - large["diastolic"]).min() >= 15
        assert large["systolic"].between(80, 230).all()
        assert large["diastolic"].between(40, 215).all()
        assert (large["charges"] >= 1).all()
        assert large["height_cm"].between(125, 220).all()
        assert large["weight_kg"].dropna().between(20, 300).all()
        assert (large["birth_date"] < pd.Timestamp("2008-01-01")).all()

    def test_correlations(self, large: pd.DataFrame) -> None:
        numbers = large.assign(age=ages(large), log_charges=np.log(large["charges"]))
        r = numbers[["age", "height_cm", "weight_kg", "systolic", "diastolic", "log_charges"]].corr()
        assert 0.4 < r.loc["age", "systolic"] < 0.65
        assert 0.15 < r.loc["weight_kg", "systolic"] < 0.35
        assert 0.1 < r.loc["weight_kg", "diastolic"] < 0.35
        assert 0.3 < r.loc["systolic", "diastolic"] < 0.6
        assert 0.4 < r.loc["height_cm", "weight_kg"] < 0.6
        assert -0.2 < r.loc["age", "height_cm"] < 0
        assert 0.1 < r.loc["age", "log_charges"] < 0.4

    def test_diagnosis_follows_age_weight_and_pressure(self, large: pd.DataFrame) -> None:
        age, diagnosis = ages(large), large["diagnosis"]
        mean_age = age.groupby(diagnosis).mean()
        assert mean_age["Delivery"] < 32 < mean_age["Asthma"] < 55 < mean_age["Heart failure"]
        bmi = large["weight_kg"] / (large["height_cm"] / 100) ** 2
        diabetic = diagnosis == "Type 2 diabetes"
        assert bmi[diabetic].mean() - bmi[~diabetic].mean() > 1.5
        tense = diagnosis == "Essential hypertension"
        assert large["systolic"][tense].mean() - large["systolic"][~tense].mean() > 9

    def test_charges_follow_the_diagnosis_log_normally(self, large: pd.DataFrame) -> None:
        price = large.groupby("diagnosis")["charges"].median()
        assert price["Hip fracture"] > 10 * price["Urinary tract infection"]
        at_50 = large[(ages(large) == 50) & (large["diagnosis"] == "Low back pain")]["charges"]
        assert len(at_50) > 100
        assert abs(np.log(at_50).mean() - math.log(2_300)) < 4 * 0.5 / math.sqrt(len(at_50))
        assert abs(np.log(at_50).std() - 0.5) < 4 * 0.5 / math.sqrt(2 * len(at_50))

    def test_diagnoses_make_a_tree(self, large: pd.DataFrame) -> None:
        leaves = [name for names in DIAGNOSES.values() for name in names]
        assert len(leaves) == len(set(leaves)) == 34
        assert len(DIAGNOSES) == 12
        assert set(large["diagnosis"]) == set(leaves)
        assert DIAGNOSES["G00-G99 Nervous"] == ["Migraine", "Alzheimer disease"]
        assert all(len(names) >= 2 for chapter, names in DIAGNOSES.items())


class TestMissing:
    def test_shares(self, large: pd.DataFrame) -> None:
        share = large.isna().mean()
        for column, expected in {"marital_status": 0.02, "race": 0.01, "weight_kg": 0.005}.items():
            tolerance = 4 * math.sqrt(expected * (1 - expected) / len(large))
            assert abs(share[column] - expected) < tolerance

    def test_nothing_else_is_missing(self, large: pd.DataFrame) -> None:
        assert set(large.columns[large.isna().any()]) == {"marital_status", "race", "weight_kg"}
