"""The table of reliability: what is lost or leaked shows, and fails."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType

import pytest

from tests.adversarial import reliability
from tests.adversarial.bad_inputs import BadInputResult
from tests.adversarial.leaks import LeakResult
from tests.adversarial.reliability import bad_input_row, fault_row, fuzz_row, leak_row, main, table


@dataclass(frozen=True)
class Faults:
    points: int = 12
    survived: int = 12
    lost: int | tuple[str, ...] = ()


@dataclass(frozen=True)
class Fuzzed:
    executions: int = 12_345
    crashes: int | tuple[str, ...] = 0


GOOD = BadInputResult(3, {2: 2, 1: 1}, (), (), ())


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Everything answers at once, and well."""
    monkeypatch.setattr(reliability, "run_all", lambda: GOOD)
    monkeypatch.setattr(reliability, "search_all", lambda: LeakResult(5, 1000, ()))
    for name, function, result in (("faults", "survive_all", Faults()), ("fuzz", "run", Fuzzed())):
        module = ModuleType(f"tests.adversarial.{name}")
        setattr(module, function, lambda *_, result=result: result)
        monkeypatch.setitem(sys.modules, f"tests.adversarial.{name}", module)
    return monkeypatch


def test_all_is_well(tried: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| kill −9 and full disks at each point of publishing and of whole releases | 12 fault points | 12 "
        "survived: the old release or the new one, complete | 0 | 0 |",
        "| bad inputs on the command line | 3 kinds | 1 × exit 1, 2 × exit 2; 0 tracebacks, 0 wrote a file "
        "| 0 | 0 |",
        "| fuzzing of policy, hierarchy, CSV, Parquet, `check` | 12,345 executions | named errors, no "
        "traceback, no hang | 0 | 0 |",
        "| canaries in every private place; passing, refused and crashing runs | 5 scenarios, 1,000 places "
        "searched | 0 canaries found | 0 | 0 |",
    ]


@pytest.mark.parametrize(
    ("row", "lost", "leaked"),
    [
        (fault_row(Faults(lost=("rename",))), 1, 0),
        (fault_row(Faults(lost=2)), 2, 0),
        (fuzz_row(Fuzzed(crashes=("csv: ValueError",))), 1, 0),
        (bad_input_row(BadInputResult(2, {-1: 2}, ("a",), ("a", "b"), ("b",))), 2, 0),
        (leak_row(LeakResult(1, 1, ("stderr: text, utf-8",))), 0, 1),
    ],
)
def test_what_is_lost_or_leaked_is_counted(row: reliability.Row, lost: int, leaked: int) -> None:
    assert not row.clean
    assert table([row]).endswith(f"| {lost} | {leaked} |")


def test_a_leak_fails_and_is_named(tried: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tried.setattr(reliability, "search_all", lambda: LeakResult(5, 9, ("stderr: text, utf-8",) * 2))
    assert main([]) == 1
    assert "canaries in every private place; passing, refused and crashing runs: stderr: text" in (
        capsys.readouterr().out
    )


def test_what_is_not_built_is_said(tried: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def absent(name: str) -> ModuleType:
        raise ModuleNotFoundError(name=name)

    tried.setattr(reliability.importlib, "import_module", absent)
    assert main([]) == 0
    assert capsys.readouterr().out.count("| not built |") == 2


def test_what_is_built_but_broken_is_not_left_out(tried: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> ModuleType:
        raise ModuleNotFoundError(name="atheris")

    tried.setattr(reliability.importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError):
        main([])
