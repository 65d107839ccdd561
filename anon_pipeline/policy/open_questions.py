"""Questions of `init` that nobody has answered: they stand in the policy file, and nothing is published.

Decision: docs/adr/0102-no-release-while-a-question-is-open.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anon_pipeline.base.errors import PolicyError

if TYPE_CHECKING:
    from anon_pipeline.policy.model import Policy

MARK = "# QUESTION:"
"""How a line of a policy file begins that asks something of whoever knows the data."""
_LINE = re.compile(rf"^[ \t]*{MARK}", re.MULTILINE)


def questions_in(text: str) -> int:
    """Count the questions that stand in the text of a policy file.

    >>> questions_in("# QUESTION: who?\\nname: people  # no QUESTION: at the end of a line")
    1
    """
    return len(_LINE.findall(text))


def describe_questions(policy: Policy) -> str | None:
    """Say how many questions stand in the file that a policy was read from; None: there are none."""
    asked = policy.open_questions
    if not asked:
        return None
    said, them = f"{asked} questions of init stand", "them, and delete their lines"
    if asked == 1:
        said, them = "1 question of init stands", "it, and delete its lines"
    return f"{said} in the policy. Answer {them} ({MARK})"


def refuse_open_questions(policy: Policy) -> None:
    """Refuse to publish by a policy in whose file questions stand.

    Raises:
        PolicyError: with how many.
    """
    said = describe_questions(policy)
    if said is not None:
        raise PolicyError(
            f"{said}. Until then nothing is published; rehearse shows what the release would be"
        )
