"""What README and docs show is true: their policies are read, releases that follow each other are made."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.policy import policy_from

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLLOWING = (ROOT / "docs" / "repeated-releases.md").read_text(encoding="utf-8")
POLICIES = re.findall(r"```yaml\n(.*?)```", README + FOLLOWING, re.DOTALL)


@pytest.mark.parametrize("text", POLICIES, ids=lambda text: str(yaml.safe_load(text)["attributes"]["name"]))
def test_its_policies_are_policies(text: str) -> None:
    assert policy_from(yaml.safe_load(text)["attributes"]).name in text


def cohort() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "patient_id": [f"p{i}" for i in range(400)],
            "year_of_birth": rng.integers(1940, 2000, 400),
            "sex": rng.choice(["f", "m"], 400),
            "height": rng.normal(170, 9, 400).round(),
            "weight": rng.normal(75, 12, 400).round(1),
        }
    )


@pytest.fixture
def release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[pd.DataFrame], tuple[int, str]]:
    """Make the documents' release of a cohort on the command line: exit code, standard error."""
    (text,) = [text for text in POLICIES if text in FOLLOWING]
    (tmp_path / "cohort.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELEASE_KEY", "0123456789abcdef")

    def make(people: pd.DataFrame) -> tuple[int, str]:
        people.to_csv("cohort.csv", index=False)
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", "run", "cohort.yaml"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(ended.value.code or 0), capsys.readouterr().err

    return make


def test_releases_that_follow_each_other(
    release: Callable[[pd.DataFrame], tuple[int, str]], tmp_path: Path
) -> None:
    first = cohort()
    taller, heavier = first.copy(), first.copy()
    taller.loc[0, "height"] += 1
    heavier.loc[0, "height"] += 1
    heavier.loc[1, "weight"] += 1
    shown = re.findall(r"^\| \d \|.*\| (\S+) \|$", FOLLOWING, re.MULTILINE)
    assert len(shown) == 5
    for people, booked in zip([first, first, taller, heavier, taller], shown, strict=True):
        before = len(ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events())
        code, err = release(people)
        events = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events()
        if booked == "refused":
            assert (code, len(events)) == (1, before)
            assert re.search(r"^refused: .*$", FOLLOWING, re.MULTILINE)[0] in err  # type: ignore[index]
        else:
            assert code == 0, err
            assert (events[-1].event, events[-1].epsilon) == ("published", booked)
    assert len(release_states(events)) == 4


def test_the_demo_prints_numbers_as_the_readme_shows_them() -> None:
    table = README[README.index("┏") : README.index("└")]
    numbers = re.findall(r"│ (\d[\d.]*)", table)
    # Of what needs the originals, only the share that is missing and a band are shown.
    assert len(numbers) == 5
    assert numbers == [f"{float(number):.6g}" for number in numbers]
