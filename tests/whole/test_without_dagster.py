"""Commands that need no Dagster do not import it: it takes more than a second to start."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline.policy import Policy
from anon_pipeline.policy.load import TYPE
from tests.warm_process import WarmProcess

ROOT = Path(__file__).resolve().parents[2]
KEY = os.urandom(32).hex()
PROGRAM = """
import sys
from anon_pipeline.cli import main
code = 0
try:
    main()
except SystemExit as exit:
    code = exit.code or 0
loaded = sorted(name for name in sys.modules if name.split(".")[0] == "dagster")
print("exit", code, "loaded", loaded[:1], file=sys.stderr)
"""


def command(warm: WarmProcess, folder: Path, *arguments: str, program: str = PROGRAM) -> str:
    """Run a command in a process of its own; return what it said, last its exit code and what it loaded.

    The process has libraries of others already; one of them that loads Dagster would show.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ANON_PIPELINE_VAULT_KEY": KEY}
    return warm.run(program, *arguments, site=ROOT, environment=environment, cwd=folder).stderr


@pytest.fixture
def folder(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> Path:
    """A project whose release has a memory in the vault and an entry in the ledger."""
    people = small_people()
    people["person"] = [f"p{i}" for i in range(len(people))]
    columns = {"person": {"role": "identifier", "action": "drop"}}
    (tmp_path / "key").write_text("ab" * 32)
    policy = small_policy(columns=columns, record_key="person", deidentify={"key_file": "key"})
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_commands_do_not_load_dagster(warm: WarmProcess, folder: Path) -> None:
    commands = [
        (["run", "policy.yaml", "--internal-report", "internal.html"], 0),
        (["check", "policy.yaml", "people.csv"], 2),  # the personal data is no release
        (["verify", "out", "--policy", "policy.yaml"], 0),
        (["report", "out", "--policy", "policy.yaml", "--out", "page.html"], 0),
        (["report", "out", "--policy", "policy.yaml", "--internal"], 2),  # Dagster made no tables here
        (["utility", "policy.yaml"], 0),
        (["tune", "policy.yaml", "--k", "3", "--epsilon", "1"], 0),
        (["ledger", "verify"], 0),
        (["ledger", "adopt", "policy.yaml"], 0),
        (["ledger", "forget", "policy.yaml"], 0),
        (["vault", "status"], 0),
        (["vault", "new-people", "policy.yaml"], 0),
        (["schema"], 0),
    ]
    for arguments, code in commands:
        said = command(warm, folder, *arguments)
        assert said.splitlines()[-1] == f"exit {code} loaded []", said


def test_a_listed_partition_does_not_load_dagster(warm: WarmProcess, folder: Path) -> None:
    document = yaml.safe_load((folder / "policy.yaml").read_text())
    document["attributes"]["schedule"] = {"partitions": "listed", "keys": ["north", "south"]}
    document["attributes"]["source"] = {"path": "{partition}.csv"}
    del document["attributes"]["record_key"]
    (folder / "policy.yaml").write_text(yaml.safe_dump(document))
    people = pd.read_csv(folder / "people.csv")
    for number, key in enumerate(("north", "south")):
        people.iloc[number::2].to_csv(folder / f"{key}.csv", index=False)
    for words in (["--partition", "north"], ["--partitions", "north...south"]):
        said = command(warm, folder, "run", "policy.yaml", *words)
        assert said.splitlines()[-1] == "exit 0 loaded []", said


def test_the_instrument_sees_dagster_where_it_is_loaded(warm: WarmProcess, folder: Path) -> None:
    program = PROGRAM.replace("import sys\n", "import sys\nimport dagster\n", 1)
    said = command(warm, folder, "--help", program=program)
    assert said.splitlines()[-1] == "exit 0 loaded ['dagster']"
