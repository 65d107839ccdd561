"""docs/tuning.md has a row for every column of the table and every limit, and names options and defaults."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from anon_pipeline.cli.tuning import tune
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.templates import template
from anon_pipeline.tuning.grid import default_grid
from anon_pipeline.tuning.output import COLUMNS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tuning.md").read_text(encoding="utf-8")


def _named(section: str) -> list[str]:
    part = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.+?) \|", part, re.M)
    return [name.removeprefix("attacks.") for cell in cells for name in re.findall(r"`([\w.]+)`", cell)]


def test_each_column_has_one_row() -> None:
    assert _named("What is shown") == list(COLUMNS)


def test_each_limit_that_is_judged_has_one_row() -> None:
    judged = [limit.name for limit in LIMITS if limit.forecast.is_possible]
    by_law = ["known_columns", "utility_kept"]  # of drawn categories, see `limit_forecasts`
    assert sorted(_named("Which points pass")) == sorted(
        [*judged, *by_law, "t_closeness", "l_diversity", "contract", "contract", "origin"]
    )


@pytest.mark.parametrize(
    "option", ["--k", "--epsilon", "--confidence", "--recoder", "--csv", "--map", "--apply"]
)
def test_each_option_is_there_and_named(option: str) -> None:
    assert option in TEXT
    assert option in [name for p in tune.params if isinstance(p, click.Option) for name in p.opts]


def test_the_defaults_are_those() -> None:
    grid = default_grid(parse_policy(template("patients")))
    ks, epsilons = ", ".join(map(str, grid.k)), ", ".join(f"{e:g}" for e in grid.epsilon if e != 8)
    assert f"By default k is {ks} and ε is {epsilons}," in TEXT
