"""Every message that docs/troubleshooting.md explains is one that the package has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from anon_pipeline.limits.table import LIMITS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ROWS = [row for row in PAGE.splitlines() if row.startswith("| ") and not row.startswith("| message")]
LIMIT_ROWS = dict(
    re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.split("| limit | what to change |")[1].split("\n\n")[0], re.M)
)
MESSAGES = [
    found[1] for row in ROWS if (found := re.match(r"\| `([^`]+)` \|", row)) and found[1] not in LIMIT_ROWS
]


@cache
def _texts() -> str:
    """Return all texts of the package, those in pieces put together."""
    return "\n".join(text for path in (ROOT / "anon_pipeline").rglob("*.py") for text in _of(path))


def _of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield "".join(str(part) for part in parts)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_of_the_package(message: str) -> None:
    assert all(part.strip() in _texts() for part in message.split("…"))


def test_each_limit_has_a_row_that_says_what_its_refusal_says() -> None:
    assert list(LIMIT_ROWS) == [one.name for one in LIMITS]
    for one in LIMITS:
        advice = one.words.advice or "the refusal names the smallest change of ε, k or confidence"
        assert LIMIT_ROWS[one.name].lower().startswith(advice.lower())


def test_most_rows_are_messages_and_others_would_be_missed() -> None:
    assert len(MESSAGES) > (len(ROWS) - len(LIMIT_ROWS)) / 2
    assert "no such message" not in _texts()
