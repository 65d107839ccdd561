"""Synthetic patients, few and many, and what is asked of them."""

import pandas as pd
import pytest

from anon_pipeline.sources.patients import patients
from anon_pipeline.sources.reference import (
    SEXES,
)

STRATA = [(sex, decade) for sex in SEXES for decade in range(7)]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return patients()


@pytest.fixture(scope="module")
def large() -> pd.DataFrame:
    return patients(200_000, seed=20)


def ages(table: pd.DataFrame) -> pd.Series:
    """Age on the last day of 2025, spelled out rather than taken from the generator."""
    return 2025 - table["birth_date"].dt.year
