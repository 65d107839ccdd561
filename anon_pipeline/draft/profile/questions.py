"""The questions that are left to whoever knows the data: what to decide, and what follows from each answer.

Each begins with the question. No value of the data stands in them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from anon_pipeline.catalog import class_limits
from anon_pipeline.catalog.detectors.forms import NumberForm

KNOWN_TO_OTHERS = (
    "could others know this of a person, as they know an age, a town or a job? If yes, keep this line: the "
    "column is made coarser or gets noise. If nobody should learn it, as with an illness or an income, write "
    f"role: sensitive, and a limit for it under gate.{next(iter(class_limits.CLASS_LIMITS))}: it is "
    "released, and the gate limits how well it can be guessed. If readers do not need it, write role: "
    "identifier, action: drop. role: insensitive releases it as it is; only for what says nothing of a "
    "person."
)
MOSTLY_EMPTY = (
    "do your readers need it? If no, keep this line: it is left out. If yes, release the records that have a "
    "value as a table of their own, with another policy: more than half of the cells are empty, and with "
    "role: sensitive such records would be left out. Do not write role: generalize: no limit would say how "
    "well it can be guessed."
)
NAMES_PERSONS = (
    "does it name people? Its name says so, but it has few different values. If yes, keep this line: it is "
    "left out. If no, write role: generalize for what others could know about a person, or role: sensitive "
    "for what nobody should learn."
)
PERSONS_OR_THINGS = (
    "does it number people, or a few things such as branches? If people, keep this line: it is left out. If "
    "things, write role: generalize with a hierarchy (anon-pipeline hierarchy)."
)
OWN_NUMBER = (
    "does it say only whose record it is, as the number of a customer does? If yes, keep this line: it is "
    "left out. If it is measured, such as an amount, write role: perturb for noise, or role: sensitive."
)
STRAY_TEXTS = (
    "which of its texts stand for no value, and which for a value? A day that is in no calendar, such as "
    "31 February, is such a text. Under clean.columns, write missing: [text, …] for the first, values: "
    "{text: number, …} for the others, and type: number or date (with format). Then give the column its "
    "role. Until then it is left out. anon-pipeline init --show-values --to FILE shows frequent and rare "
    "texts. Numbers that are written in several ways (53'192 and 53192,45) must be made alike in the source."
)
UNREAD_DATES = (
    "does it hold dates or times? They look like dates, but years have two digits, or the form is none that "
    "init knows, or there are more than three. If yes, write years of four digits in the source (45 may be "
    "1945 or 2045), and run init again; or, if years have them, type: date with a format under clean.columns "
    "(docs/policy.md#clean), and role: generalize with hierarchy: {dates: [year, decade]}. If no, keep this "
    "line: it is left out."
)
MANY_CATEGORIES = (
    "could a value name a person? If yes, or if you do not know, keep this line: it is left out. If no, "
    "write role: generalize with a hierarchy (anon-pipeline hierarchy), or role: sensitive."
)
NO_HIERARCHY = (
    "do your readers need it? If no, keep this line: it is left out. If yes, write a hierarchy "
    "(anon-pipeline hierarchy) and role: generalize."
)
TABLE = (
    "do the groups in its table suit your readers? The table is a private file: a line has a value, then its "
    "group. Edit the groups if not."
)
TOO_MANY = (
    "do your readers need it more than another column that is released? If no, keep this line: it is left "
    "out. If yes, exchange the roles of the two."
)
LEFT_OUT = (
    "do your readers need it? If no, keep this line: it is left out. If yes, leave out another column in its "
    "place or write a coarser hierarchy; anon-pipeline tune says what passes."
)
NOISE_LEFT_OUT = (
    "do your readers need it? If no, keep this line: it is left out. If yes, leave out another column in its "
    "place; anon-pipeline tune says what passes."
)
DAY_OR_MONTH = (
    "does the day come first in its dates, or the month? All of them can be read in both ways. The format "
    "under clean says what was taken: %d is the day, %m the month."
)
TOTAL = (
    "is a record at the end the sum of others? A cell of it says so. If yes, remove all such records from "
    "the source and run init again: each would count as a person. If no, keep the source as it is."
)
SENTINEL = (
    "does a number far from all others, such as 999 or -1, stand for no value? If yes, write it as a text in "
    "missing: ['…'] of the column, under clean. If no, delete this question."
)

LOST_ZEROS = (
    "did some values lose their leading zero? Some are one digit shorter than the others, or equal another "
    "value without its leading zero. A spreadsheet does this to postal codes; the release then has them in "
    "wrong groups. If yes, write them alike in the source, or with values: {text: text} of the column, under "
    "clean. If no, delete this question."
)
SHORTENED = (
    "do two of its values stand for the same thing, as m and male would? The release takes them for "
    "different ones. If yes, write the short one out with values: {m: male} of the column, under clean. If "
    "no, delete this question."
)


def known_to_others(name: str, *, many_empty: bool, offered: bool = True) -> str:
    """Ask whether others know a column; say what role: sensitive needs if many cells are empty.

    Args:
        name: of the column.
        many_empty: whether role: sensitive needs more, since records without a value are left out.
        offered: whether init takes the answer *secret* for it.
    """
    if not many_empty:
        return KNOWN_TO_OTHERS
    answer = shlex.quote(f"{name}=secret")
    again = f" init writes all of this with --answer {answer} and --to ANOTHER_FILE." if offered else ""
    return (
        f"{KNOWN_TO_OTHERS} Too many of its cells are empty for role: sensitive alone: that also needs "
        f"missing: suppress, and an anonymize.suppression_limit above the share of empty cells.{again}"
    )


def needed_with_gaps(name: str) -> str:
    """Ask whether readers need a secret of which many cells are empty, by name of the column."""
    return (
        "do your readers need it? If no, keep this line: it is left out. If yes, run init again with "
        f"--answer {shlex.quote(f'{name}=secret')} and --to ANOTHER_FILE. init then writes the role, how the "
        "values are read, the limits on how well they can be guessed, and limits on suppression that allow "
        "for the empty cells: records without a value are left out. Do not write role: generalize: no limit "
        "would say how well it can be guessed."
    )


def odd_records(*, empty: int, nearly: int, totals: int) -> str:
    """Ask whether some records are no people; arguments as in `odd_records.OddRecords`."""
    kinds = {
        "without a value": empty,
        "nearly without values": nearly,
        "that begin with a word for a total": totals,
    }
    counts = ", ".join(f"{what}: {count:,}" for what, count in kinds.items() if count)
    return (
        f"are some records no people? Records {counts}. If yes, remove them from the source and run init "
        "again: each would count as a person. If no, keep the source as it is."
    )


def empty_cells(share: float) -> str:
    """Say on a terminal what the answer secret does where many cells are empty.

    Args:
        share: of empty cells, in (0, 1].
    """
    return (
        f"secret also needs missing: suppress, and an anonymize.suppression_limit above the share of empty "
        f"cells ({share:.1%}): both are written then, and records without a value are left out."
    )


def too_many_empty(share: float) -> str:
    """Say on a terminal why the answer secret is not offered; argument as in `empty_cells`."""
    return f"secret is not offered: {share:.1%} of its cells are empty, and such records would be left out."


ONE_PERSON = (
    "does each value stand for one person? If yes, answer person: people are counted, and a class of 5 is "
    "then 5 people. If it numbers a few things, such as branches, answer known, or keep what is proposed."
)
"""What is asked on a terminal where *person* is an answer: it takes the place of the questions about that."""


RECORDS_OF_PEOPLE = (
    "do people have several records? Records repeat as if they did. If yes, write person: COLUMN below "
    "attributes, with the column that identifies people (docs/policy.md#person-rows_per_person). If no, "
    "write one_record_per_person: true there."
)
"""What is asked of the whole table where a rehearsal warned of it."""


def several_records(name: str, rows: int, beyond: float, *, offered: bool = True) -> str:
    """Ask whether people have several records, of a column in which a few values repeat.

    Args:
        name: of the column.
        rows: records of a value that 95 % of the values do not exceed.
        beyond: share of the records that are beyond so many, in [0, 1].
        offered: whether init takes the answer *person* for it.
    """
    answer = shlex.quote(f"{name}=person")
    again = (
        f"run init again with --answer {answer} and --to ANOTHER_FILE, or "
        if offered
        else "first complete the records without a value, or remove them from the source. Then "
    )
    return (
        f"do people have several records? Its values repeat. If yes, {again}write person: {name} below "
        "attributes, deidentify: {key_env: NAME}, where that variable holds a secret of 16 bytes or more, "
        f"and, if a column gets noise, rows_per_person: {rows}, the most records of a person that are "
        "released: people are counted then, and not records (docs/policy.md). 95% of the values have at most "
        f"{rows} records; {beyond:.1%} of the records are beyond that, and would be left out. If no, write "
        "one_record_per_person: true below attributes, and delete this question."
    )


def some_identifiers(words: str, detectors: Sequence[str]) -> str:
    """Ask whether the cells that look like identifiers are some, of a column whose other cells do not.

    Args:
        words: what they look like, for people.
        detectors: names of the detectors that find them.
    """
    allowed = ", ".join(f"{name}: the reason" for name in detectors)
    return (
        f"are the cells that look like {words} really that? If yes, keep this line, or remove them from the "
        "source and run init again. If no, write a role and allow: {"
        + allowed
        + "}; the reason is published."
    )


def decimal_or_thousands(form: NumberForm) -> str:
    """Ask what the mark in a column's numbers is, and say what it was taken for."""
    taken = "a sign of thousands" if form.thousands else "the decimal sign"
    return (
        f"is the mark in its numbers the decimal sign or that of thousands? Both fit all or many of them. It "
        f"was taken for {taken}: see decimal and thousands under clean.columns. If you change these, change "
        "the column's own numbers, too: round, bottom and top, resolution, or the intervals of its hierarchy."
    )


def questions_of(text: str) -> list[str]:
    """Return the questions of a text, each with what follows from its answer.

    A question begins with a small letter, and its first sentence ends with a question mark.

    >>> questions_of("does it name people? If yes, keep this line. is it a day? If not, write it.")
    ['does it name people? If yes, keep this line.', 'is it a day? If not, write it.']
    """
    return re.split(r"(?<=[.?]) (?=[a-z][^.?]*\?)", text)


def asked_in(text: str) -> str:
    """Return the sentences of a text that ask: the others say what to write in the file.

    >>> asked_in("does it name people? If yes, keep this line. is it a day? If not, write it.")
    'does it name people? is it a day?'
    """
    sentences = re.split(r"(?<=[.?]) ", text)
    return " ".join(sentence for sentence in sentences if sentence.endswith("?"))
