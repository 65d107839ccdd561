"""What ε promises, said once: the manifest, the report and the documents use these sentences alone.

Each is proven by enumeration (tests/publish/manifest/test_promises.py).
"""

from __future__ import annotations

import math
from fractions import Fraction

ROW = (
    "Of two members of a class, what the noise makes of one row is at most {} as likely for one as for the "
    "other"
)
"""One row, two members of a class that is fixed, before suppression; scaled to the class."""

FIXED = (
    "This is said of the class as it is: its members, its least and its greatest value. It is not said of a "
    "record with another value, which would change the noise of the whole class."
)
"""With another value of a record the ratio has no bound: it grows with the distance of a released row."""

EQUAL = "A class whose values are all equal gets no noise."

LOCAL = (
    "Whatever the class, what is drawn for one row is at most {} as likely for one value as for any other, "
    "class and suppression aside"
)
"""One row, any two values; public scale, or categories. Class and suppression depend on values as ever."""

EXCHANGED = (
    "If two members of a class exchange their rows, the whole released table is at most {} as likely one way "
    "as the other: two rows, twice ε."
)
RELEASED = (
    "Given that a row was released, it is at most {} as likely for one member of its class as for another: "
    "suppression looks at the noise that was drawn, so the ε of columns with numbers counts twice."
)
_RELEASED_DELTA = (
    "Given that a row was released, it is at most {} as likely for one member of its class as for another: "
    "suppression looks at the noise that was drawn, so the ε of columns with numbers counts twice, and what "
    "is added is δ·(1 + e^ε) divided by the chance that the row is released."
)
UNPROMISED = "A released value can rule original values out, or give one away."
SAMPLE = (
    "The input is a random sample of {}, each in it with a probability of {} %. Who is in it is secret, and "
    "the same in each release with the same key. Who knows that a person is in it gains all the same."
)
STREAM = (
    "Records arrive continuously. Those that were in no class large enough have waited for up to {} later "
    "partitions, and were then released or suppressed: each record is in one release at most."
)
CHANGED = "Changed by a method that guarantees nothing ({words}): {names}."
SIMULATED = (
    "How many records can be linked by them was measured with simulated attackers: this is no upper bound."
)
JOINT = (
    "The values of {} move together and stay one person's: an attacker who knows some of them of a person "
    "may learn the others."
)
KNOWN_CHANGED = (
    "Linking by {} was measured for an attacker who knows these values of a person. Limits on linking "
    "by numbers do not use them."
)
AGAIN_UNPROMISED = (
    "If the same people are released twice, both releases together tell more{} than one: nothing limits how "
    "much."
)


UNPROMISED_ROW = (
    "Given that a row was released, nothing is promised of columns with numbers: suppression looks at the "
    "uniform noise, too."
)

PASSED = (
    "These bounds ignore what the decision of the gate reveals. A limit that depends on the drawn noise can "
    "reveal more."
)

NOT_ALL = (
    "The scale of the noise comes from the values in the class, and suppression looks at the original "
    "values: this is not end-to-end differential privacy."
)
NOT_ALL_LOCAL = (
    "Classes and suppression look at the original values: the release as a whole is not differentially "
    "private."
)

_PERSON = (
    "A person has at most {rows} records here, and each record has ε/{rows}. Take all records of a person, "
    "and for each of them another record of its class: the noisy values of them all are at most {most} as "
    "likely for the person's records as for the others"
)
"""All records of one person, against one other member of a fixed class for each, before suppression."""

_PERSON_LOCAL = (
    "A person has at most {rows} records here, and each record has ε/{rows}. Whatever the classes, what is "
    "drawn for all records of a person together is at most {most} as likely for their values as for any "
    "others, classes and suppression aside"
)
_PERSON_RELEASED = (
    "Given that all of these records were released, their noisy values are at most {} as likely for the "
    "person's records as for the others."
)
_PERSON_RELEASED_DELTA = (
    "Given that all of these records were released, their noisy values are at most {} as likely for the "
    "person's records as for the others, and what is added is δ·(1 + e^ε) divided by the chance that they "
    "are all released."
)
PERSON_PICKED = (
    "Which records of a person stay where there are more is decided by these records alone, under a key: "
    "nobody else's records play a part."
)

PEOPLE_COUNTED = "People are counted: all records of one person count as one."
ONE_RECORD = "Each record is of another person (record_key): records are people."
_COUNTED_SEVERAL_TIMES = (
    "Who has several records is counted several times, and a class may hold fewer people than records."
)
RECORDS_COUNTED = (
    "Records are counted, not people: the policy does not say whose records they are. "
    f"{_COUNTED_SEVERAL_TIMES}"
)
ONE_RECORD_STATED = (
    "Records are counted, not people: the policy's author states that each person has one record "
    f"(one_record_per_person). {_COUNTED_SEVERAL_TIMES}"
)

PRESENCE = (
    "That a person is in the table is not hidden. Whoever knows it knows of the person what everybody in the "
    "table has in common: what the table is about, and each column with one value."
)
"""No limit asks whether somebody is in the table; of a table of ill people that is the secret."""

_STICKY = (
    "all releases of this name together are at most {} as likely for one value as for any other, class and "
    "suppression aside."
)


def person_sentence(rows: int, epsilon: Fraction, delta: Fraction = Fraction(0), *, local: bool) -> str:
    """Say what ε promises of all records of a person.

    Args:
        rows: that a person has at most.
        epsilon: of a person: that of a record, so many times; ``delta`` likewise.
        local: whether all columns have noise of a public scale.
    """
    sentence = _PERSON_LOCAL if local else _PERSON
    return f"{sentence.format(rows=rows, most=times(epsilon, delta))}. {PERSON_PICKED}"


def released_person_sentence(epsilon: Fraction, numbers: Fraction, delta: Fraction = Fraction(0)) -> str:
    """Say what holds of all records of a person once it is known that they were released.

    Args:
        epsilon: of a person, all columns.
        numbers: of a person, columns with numbers, which suppression by confidence looks at.
    """
    return (_PERSON_RELEASED_DELTA if delta else _PERSON_RELEASED).format(times(epsilon + numbers))


_SHOWN = 1e6


def times(epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    """Say how many times as likely ε allows, with δ if there is one.

    Args:
        epsilon: > 0.
        delta: ≥ 0.

    >>> times(Fraction(2)), times(Fraction(100), Fraction(1, 1000))
    ('e^2 (7.4) times', 'e^100 times (plus δ = 0.001)')
    """
    number = math.exp(min(float(epsilon), 700))
    known = "" if number >= _SHOWN else f" ({number:,.0f})" if number >= 10 else f" ({number:.2g})"
    return f"e^{float(epsilon):g}{known} times" + (f" (plus δ = {float(delta):g})" if delta else "")


def exchange_sentence(epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    """Say what two exchanged rows cost; ε and δ are a row's, of all of its columns that promise one."""
    return EXCHANGED.format(times(2 * epsilon, 2 * delta))


def sticky_sentence(epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    """Say what all releases with noise that stays reveal about a value; ε and δ are a row's, all columns."""
    return _STICKY.format(times(epsilon, delta))


def released_row_sentence(epsilon: Fraction, numbers: Fraction, delta: Fraction = Fraction(0)) -> str:
    """Say what holds of a row once it is known that it was released.

    Args:
        epsilon: of a row, all of its columns.
        numbers: of its columns with numbers, which suppression by confidence looks at.
    """
    return (_RELEASED_DELTA if delta else RELEASED).format(times(epsilon + numbers))
