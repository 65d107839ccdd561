"""What a policy's author answers for: columns that single people out, and are released all the same."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, model_validator

from anon_pipeline.catalog.detectors.identifying_names import birth_part
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.columns import Identifier, Insensitive, PerturbCategories, Sensitive
from anon_pipeline.policy.fields import Plain, Real, Reason, Strict
from anon_pipeline.policy.later_rules import RETIRED
from anon_pipeline.policy.marks import AFTER, SHOWN

LONGEST = 731
"""Days from when something is acknowledged to its end: two years, one of them may be a leap year."""
_FEWEST_LETTERS, _FEWEST_WORDS, _SHORTEST_WHY = 2, 2, 10
_WORD, _NOT_APPLICABLE = re.compile(r"[^\W\d_]+"), re.compile(r"\bn\W?a\b", re.IGNORECASE)
_PLACEHOLDERS = frozenset(
    {
        *("and", "applicable", "author", "be", "completed", "decided", "defined", "determined", "do", "done"),
        *("fill", "fixme", "foo", "in", "later", "me", "myself", "na", "name", "no", "nobody", "none"),
        *("nothing", "not", "null", "ok", "one", "reason", "see", "tba", "tbc", "tbd", "test", "the", "to"),
        *("todo", "unknown", "who", "why", "x", "xx", "xxx"),
    }
)
"""Words that say nothing of who answers for something, or why, if there are no others."""


class Acknowledged(Strict):
    """Columns that may single people out together, for a time: who says so, when and why. It is published."""

    columns: Annotated[tuple[Plain, ...], SHOWN, AFTER] = Field(
        min_length=1,
        description="Insensitive columns, two or more; or one column that follows people, or has the name "
        "of an identifier, or is a hashed one.",
    )
    share: Annotated[Real, SHOWN, AFTER] = Field(
        gt=0,
        le=1,
        description="Several columns: the largest share of records that they, or some of them, may single "
        "out. One column: the largest share of distinct values.",
    )
    who: Annotated[Reason, SHOWN, AFTER] = Field(description="Who answers for it: a person or an office.")
    when: Annotated[datetime.date, SHOWN, AFTER] = Field(description="Day from which it holds.")
    why: Annotated[Reason, SHOWN, AFTER] = Field(
        description="Why the columns are released all the same, in at least two words and ten characters."
    )
    until: Annotated[datetime.date, SHOWN, AFTER] = Field(
        description="Last day on which it holds, at most two years after the first."
    )

    @model_validator(mode="after")
    def _sound(self, info: ValidationInfo) -> Acknowledged:
        if len(set(self.columns)) != len(self.columns):
            raise ValueError("columns must name each column once")
        if problems := [] if (info.context or {}).get(RETIRED) else list(self._wordless()):
            raise ValueError("; ".join(problems))
        if not 0 <= (self.until - self.when).days <= LONGEST:
            raise ValueError(
                f"until must be at most two years after when, not before, got {self.when} and {self.until}"
            )
        return self

    def _wordless(self) -> Iterator[str]:
        """Yield which texts say nothing; a release that is out was made before this was asked."""
        if not names_somebody(self.who):
            yield "who must name a person or an office, in at least two letters; a placeholder is none"
        long = len(self.why.strip()) >= _SHORTEST_WHY and _count_words(self.why) >= _FEWEST_WORDS
        if not (long and _telling_words(self.why)):
            yield (
                "why must give the reason, in at least two words and ten characters: what makes it "
                "acceptable that these columns single people out; a placeholder is none"
            )

    def covers(self, columns: Sequence[str], on: datetime.date) -> bool:
        """Tell whether these columns are among those that are acknowledged, on a day."""
        return set(columns) <= set(self.columns) and self.when <= on <= self.until


def names_somebody(text: str) -> bool:
    """Tell whether a text can name a person or an office: a placeholder does not.

    >>> names_somebody("Data office"), names_somebody("n/a (TODO)")
    (True, False)
    """
    return len("".join(_telling_words(text))) >= _FEWEST_LETTERS


def _telling_words(text: str) -> list[str]:
    """Return the words of a text without those of placeholders.

    >>> _telling_words("n/a (TODO)"), _telling_words("Data office"), _telling_words("to be determined")
    ([], ['Data', 'office'], [])
    """
    words = _WORD.findall(_NOT_APPLICABLE.sub(" ", text))
    return [word for word in words if word.casefold() not in _PLACEHOLDERS]


def _count_words(text: str) -> int:
    """Count words; each letter of a script without capitals is one, since some of these write no spaces."""
    return sum(len(word) if word.upper() == word.lower() else 1 for word in _WORD.findall(text))


def hashed_columns(columns: Mapping[str, Any]) -> list[str]:
    """Name the identifiers that are released as keyed hashes; a column that did not parse is none."""
    return [
        name
        for name, column in columns.items()
        if isinstance(column, Identifier) and IDENTIFIER_ACTIONS[column.action].keyed
    ]


def unfit_acknowledgements(found: Sequence[Acknowledged], columns: Mapping[str, Any]) -> Iterator[str]:
    """Yield which acknowledgements name columns that are not, or no longer, such as can be acknowledged.

    Args:
        columns: of the policy; one that did not parse is None.
    """
    unsure = {name for name, column in columns.items() if column is None}
    shown = (Insensitive, Sensitive, PerturbCategories)
    alone = {name for name, column in columns.items() if isinstance(column, shown)}
    single = {*hashed_columns(columns)} | alone | unsure
    fit = {name for name in alone if isinstance(columns[name], Insensitive) or birth_part(name)} | unsure
    for one in found:
        named = ", ".join(one.columns)
        if len(one.columns) == 1 and not single.issuperset(one.columns):
            yield (
                f"acknowledged: a single column must be sensitive, insensitive, one of categories that is "
                f"perturbed, or an identifier with an action that is keyed, got {named}. An acknowledgement "
                f"lapses when its columns change: write a new one."
            )
        elif len(one.columns) > 1 and not fit.issuperset(one.columns):
            others = ", ".join(name for name in one.columns if name not in fit)
            yield (
                f"acknowledged: several columns must all have the role insensitive, or be parts of a date of "
                f"birth, got {others} in {named}. "
                f"An acknowledgement lapses when its columns change: write a new one."
            )
