"""Questions of `init` that nobody has answered: they stand in the policy file, and nothing is published.

Decision: docs/adr/0102-no-release-while-a-question-is-open.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, PrivateAttr

from anon_pipeline.base.errors import PolicyError

MARK = "# QUESTION:"
"""How a line of a policy file begins that asks something of whoever knows the data."""
_LINE = re.compile(r"\s*#+\s*QUESTION\s*:")
_NAMED = 5  # lines that a message names


def questions_in(text: str) -> tuple[int, ...]:
    """Return the numbers of the lines of a policy file that ask something, from 1.

    >>> questions_in("# QUESTION: who?\\nname: people  # no QUESTION: at the end of a line")
    (1,)
    """
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    return tuple(number for number, line in enumerate(lines, start=1) if _LINE.match(line))


def describe_questions(asked: Sequence[int]) -> str | None:
    """Say how many questions stand in a policy file, and in which lines; None: there are none."""
    if not asked:
        return None
    lines = ", ".join(map(str, asked[:_NAMED])) + (" …" if len(asked) > _NAMED else "")
    if len(asked) == 1:
        said, it, its = f"1 question of init stands in the policy (line {lines})", "it", "its"
    else:
        said, it, its = f"{len(asked)} questions of init stand in the policy (lines {lines})", "them", "their"
    return f"{said}. Answer {it}, and delete {its} lines ({MARK})"


def refuse_open_questions(asked: Sequence[int]) -> None:
    """Refuse to publish by a policy in whose file questions stand.

    Args:
        asked: the numbers of their lines, see `questions_in`.
    Raises:
        PolicyError: with how many, and where.
    """
    said = describe_questions(asked)
    if said is not None:
        raise PolicyError(f"{said}. Until then nothing is published; rehearse shows what would come out")


class Questioned(BaseModel):
    """A policy that knows which lines of its file ask something; no digest and no field depends on them."""

    _open_questions: tuple[int, ...] = PrivateAttr(())

    @property
    def open_questions(self) -> tuple[int, ...]:
        """Lines with questions of `init` in the file that this was read from; none if there was no file."""
        return self._open_questions

    def with_open_questions(self, asked: tuple[int, ...]) -> Self:
        """Return a copy that knows in which lines of its file questions stand."""
        copied = self.model_copy()
        copied._open_questions = asked
        return copied
