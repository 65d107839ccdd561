"""No setting of a library or of the process lets a bad release pass, or refuses a good one."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.settings import GX, PROCESSES, SETTINGS, Setting, asked, markdown, prepare, together

ROOT = Path(__file__).resolve().parents[2]
Found = dict[str, dict[str, list[object]]]
ONCE = """
from types import SimpleNamespace
from tests.contracts_once import prove_contracts_once
prove_contracts_once(SimpleNamespace(setattr=setattr))
"""
"""Proves each contract once under the settings of its process, instead of once for each case."""


def said(folder: Path, setting: Setting, judge: str = "gate") -> Found:
    """Judge in a process of its own, under a setting."""
    found: Found = asked(folder, replace(setting, within=setting.within + ONCE), judge)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("settings")
    prepare(made)
    return made


@pytest.fixture(scope="module")
def plain(folder: Path) -> Found:
    """What is said without settings; it must be what the cases are named after."""
    found = said(folder, Setting("none"))
    for case, verdicts in found.items():
        refused = {limit for limit, (status, _) in verdicts.items() if status == "refused"}
        assert refused == set() if case.endswith("good") else case.partition(":")[0] in refused, case
    assert len(found) == 14
    return found


@pytest.mark.parametrize("process", PROCESSES)
def test_no_setting_changes_a_verdict(process: str, folder: Path, plain: Found) -> None:
    assert said(folder, together(process)) == plain


def test_settings_of_one_process_do_not_undo_each_other() -> None:
    for process in PROCESSES:
        names = [name for setting in SETTINGS if setting.process == process for name in setting.environ]
        assert len(names) == len(set(names)), process


def test_great_expectations_says_the_same_whatever_is_set(folder: Path) -> None:
    found = said(folder, GX, "suite")
    for case, verdicts in found.items():
        refused = {limit for limit, (status, _) in verdicts.items() if status == "refused"}
        more = {"linking_risk"} if case.startswith(("t_", "l_")) else set()  # nothing could be released: 1
        if case != "good":  # other classes, in which known columns link more
            more |= {limit for limit in refused if limit.startswith("known_columns.")}
        assert refused - more == (set() if case == "good" else {case})


def test_the_table_of_settings_is_documented() -> None:
    assert markdown() in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "anon_pipeline").rglob("*.py")), ids=lambda path: path.name)
def test_no_assert_guards_anything(path: Path) -> None:
    """`python -O` removes asserts: those that are there tell the type checker what is known."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assert):
            test = node.test
            told = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
            assert told, f"{path}:{node.lineno}"
            assert ast.unparse(test).endswith("is not None")
        assert not (isinstance(node, ast.Name) and node.id == "__debug__"), path
