"""Why each section of a proposed policy is as it is, and what its author must decide there.

No value of the data stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from anon_pipeline.draft.attributes import (
    KEY_NAME,
    Place,
    describe_unlimited,
    owner_of,
    table_files,
)
from anon_pipeline.draft.choice import Fitted
from anon_pipeline.draft.lacking_records import RECODED_OUT, lacking_columns
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.questions import RECORDS_OF_PEOPLE
from anon_pipeline.draft.profile.record_owners import asks_for_owners, numbers_people
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.stages.deidentify import new_key_command
from anon_pipeline.tuning.results import DROWNED


def section_reasons(profile: Profile, fitted: Fitted, place: Place) -> Iterator[tuple[str, str]]:
    """Yield what stands above each section."""
    odd = f"\nQUESTION: {profile.odd_question}" if profile.odd else ""
    yield "source", _of_the_source(profile) + odd
    yield "clean", _of_cleaning(profile)
    yield "columns", _of_the_columns(profile, fitted, place)
    yield "person", _of_the_people(fitted)
    yield (
        "anonymize",
        _of_recoding(fitted),
    )
    yield "perturb", _of_noise(fitted)
    yield (
        "suppress",
        "Records that an interval of this confidence around their noisy values would single out are left "
        "out.",
    )
    yield "gate", _of_the_gate(fitted)


def _of_the_source(profile: Profile) -> str:
    layout = profile.layout
    where = (
        "The path is relative to the project."
        if profile.source is None
        else "Where the table lies, as it was given."
    )
    if layout is None or not layout.is_text:
        own = where if profile.source is not None else f"{where} The file has types of its own."
        return own + _of_the_title(layout)
    said = (
        f"{where} {layout.fitting:.0%} of the first lines have as many fields as the header, with this "
        f"separator."
    )
    if layout.guessed_encoding:
        said += (
            f"\nQUESTION: are letters such as ä, é and ñ right if the file is read as {layout.encoding}? The "
            "bytes do not show it. If they are wrong, write the name of the encoding in options."
        )
    return said + _of_the_title(layout)


def _of_the_title(layout: Layout | None) -> str:
    """Ask whether the lines that are skipped are a title."""
    if layout is None or not layout.skip_lines:
        return ""
    lines = "line" if layout.skip_lines == 1 else f"{layout.skip_lines} lines"
    return (
        f"\nQUESTION: do the names of the columns come after the first {lines}? What is before them is left "
        "out (skip_lines), like a title."
    )


def _of_cleaning(profile: Profile) -> str:
    said = "How cells become values (docs/policy.md#clean): white space is removed"
    if profile.missing_anywhere:
        said += "; these texts, from a public list, occur and stand for a missing value"
    said += ". Columns that are written otherwise are named."
    if any(look.seen.varied for look in profile.looks):
        said += " Categories that differ in case alone are written in small letters."
    return said


def _of_the_columns(profile: Profile, fitted: Fitted, place: Place) -> str:
    said = f"{profile.records:,} records. Every column has a role."
    together = profile.together
    if together is not None:
        names = ", ".join(profile.proposals[j].name for j in together.columns)
        said += f" Unchanged, {names} would distinguish records best (anon-pipeline profile says how well)."
    if table_files(fitted.proposals, place):
        said += (
            " Tables of hierarchies name the values of this file: a later file with other values is refused."
        )
    if fitted.problem or fitted.refused:
        said += (
            f"\nQUESTION: {fitted.problem or 'a rehearsal was refused by ' + ', '.join(fitted.refused)}. "
            + _WAYS
        )
    return said + _of_records_of_people(fitted)


def _of_records_of_people(fitted: Fitted) -> str:
    """Ask whether people have several records, if the rehearsal warns and no column's question asks that."""
    warned = () if fitted.rehearsal is None else (limit for limit, _ in fitted.rehearsal.warned)
    asked = any(asks_for_owners(proposal) for proposal in fitted.proposals)
    return "" if asked or REPEATED_PEOPLE.name not in warned else f"\nQUESTION: {RECORDS_OF_PEOPLE}"


def _of_the_people(fitted: Fitted) -> str:
    owner = owner_of(fitted.proposals)
    if owner is None:
        return ""
    seen = owner.seen
    said = (
        f"People are counted, not records: {seen.different:,} people. Set the variable {KEY_NAME} to a "
        f"secret of 16 bytes or more, always the same one. For a new one: {new_key_command(KEY_NAME)}."
    )
    if fitted.policy.rows_per_person is not None:
        said += (
            f" rows_per_person: 95% of the people have at most {seen.rows} records; {seen.beyond:.1%} of the "
            "records are beyond that and left out. Noise grows with this number: ε is of a person."
        )
    return said


def _of_recoding(fitted: Fitted) -> str:
    chosen, ks = fitted.chosen, [str(k) for k in fitted.compared]
    counted = "records" if owner_of(fitted.proposals) is None else "people"
    said = f"k = {chosen.k}: classes of at least {chosen.k} {counted}"
    if len(ks) > 1:
        largest = "larger" if len(ks) == 2 else "largest"
        said += f"; of {', '.join(ks[:-1])} and {ks[-1]}, the {largest} one that keeps the limits"
        if fitted.telling or chosen.k < max(fitted.compared):
            said += " and leaves one value in the fewest columns"
    if ks:
        said += f", tried on {fitted.records:,} records"
    noise = "" if fitted.policy.perturb is None else ", and no ε above that of this policy"
    said += (
        f". anon-pipeline tune compares other k, up to 100{noise}, so that it may recommend others. "
        "suppression_limit: the share of the records that may be left out for k."
    ) + _of_later_releases(fitted)
    if fitted.rehearsal is not None and fitted.rehearsal.silent:
        smaller = ", or take a smaller k" if chosen.k > min(fitted.compared, default=chosen.k) else ""
        said += (
            f"\nQUESTION: do your readers need {', '.join(fitted.rehearsal.silent)}? In a rehearsal all "
            "records had one value there. If no, write role: identifier, action: drop. If yes, write that "
            f"for another column with role generalize that they need less{smaller}."
        )
    return said


def _of_later_releases(fitted: Fitted) -> str:
    """Say how releases of the same people are compared, where a column numbers these people."""
    keys = [one.name for one in fitted.proposals if one.dropped and numbers_people(one.seen)]
    if fitted.policy.person is not None or not keys:
        return ""
    return (
        f" If later releases have the same people, write record_key: {keys[0]} and deidentify: "
        f"{{key_env: {KEY_NAME}}} (a variable with a secret of 16 bytes or more) below attributes before the "
        "first one: the gate then compares the releases (docs/repeated-releases.md)."
    )


def _of_noise(fitted: Fitted) -> str:
    epsilon = f"{fitted.chosen.epsilon:g}"
    whose = "record" if owner_of(fitted.proposals) is None else "person"
    said = f"ε of one {whose} for all of its columns with noise, chosen from the data: of those compared, "
    drowned = ", ".join(fitted.drowned)
    left = f"; even so next to nothing is left of {drowned}" if drowned else " and leaves a useful release"
    said += (
        f"{epsilon} is the smallest that keeps the limits{left} (docs/tuning.md)."
        if fitted.useful
        else f"none leaves a useful release; {epsilon} comes nearest of those that keep the limits."
    )
    if fitted.drowned:
        said += (
            f"\nQUESTION: is what is left of {drowned} worth releasing? "
            f"{DROWNED[0].upper()}{DROWNED[1:]}. If no, write role: identifier, action: drop (it is left "
            "out), write role: generalize, or take a larger ε if you can promise it. If means over many "
            "records are enough, keep it."
        )
    return said


_WAYS = (
    "Which columns must be released? Drop others or make them coarser; anon-pipeline tune says what passes."
)


def _of_the_gate(fitted: Fitted) -> str:
    said = "What must hold of the bytes to be published; nothing is published otherwise."
    if fitted.policy.anonymize.suppression_limit > RECODED_OUT:
        of_people = "; a person counts if one of their records lacks a value"
        counted = of_people if fitted.policy.person is not None else ""
        lacking = ", ".join(lacking_columns(fitted.proposals))
        said += (
            f" gate.suppression and anonymize.suppression_limit allow for the records without a value of "
            f"{lacking}, which are left out (missing: suppress){counted}."
        )
    rest = describe_unlimited(fitted.proposals)
    if rest is not None:
        said += (
            f"\nQUESTION: some sensitive columns have no limit on their classes: {rest}. "
            "Must an attacker who knows the class of a person learn none of them? If so, write a limit on it "
            "under gate: that costs records. If not, delete this question."
        )
    return said
