"""The table of the risk measures' speed tells a target that is missed."""

from __future__ import annotations

import pytest

from benchmarks import risk


def test_a_target_that_is_missed_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []
    row = risk.Row("two calls", {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, -1.0)
    monkeypatch.setattr(risk, "rows", lambda: [row, risk.Row("no target", row.calls)])
    assert risk.main() == 1
    assert calls == ["a", "b"] * 12  # warm, and five times, for each of the two rows
    shown = capsys.readouterr().out
    assert "✗" in shown
    assert "✓" not in shown
    monkeypatch.setattr(risk, "rows", lambda: [risk.Row("slow enough", row.calls, 3_600.0)])
    assert risk.main() == 0
