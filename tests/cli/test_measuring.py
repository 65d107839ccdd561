"""The command `utility`: queries of the user are asked of input and release, and no value gets out."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd

from tests.cli.projects import Folder

CANARY = "CANARY-7f3a"


def test_the_command_asks_them(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = folder(small_people().assign(illness=lambda frame: f"{CANARY} " + frame["illness"]))
    (made.path / "q.sql").write_text(
        "select count(*) from records;\n"
        "select illness, avg(height), count(*) from records where age::int < 50 group by illness;"
    )
    done = made.call("utility", "policy.yaml", "--sql", "q.sql", "--json")
    assert done.code == 0, done.err
    asked = json.loads(done.out)["workload"]
    assert list(asked) == ["1", "2"] and asked["1"]["rows"] == 1 and asked["2"]["rows"] == 4
    assert 0 <= asked["2"]["mean"] <= asked["2"]["worst"] <= 1
    shown = made.call("utility", "policy.yaml", "--sql", "q.sql")
    assert "What your queries lose" in shown.out and CANARY not in shown.out + shown.err
    assert "workload" not in json.loads(made.call("utility", "policy.yaml", "--json").out)
