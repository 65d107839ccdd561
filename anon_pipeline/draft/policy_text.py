"""A proposed policy as a file: every decision with its reason, every question as ``# QUESTION:``.

No value of the data stands in it: it is committed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from anon_pipeline.draft.attributes import (
    KEY_NAME,
    Place,
    attributes_of,
    describe_unlimited,
    owner_of,
    table_files,
)
from anon_pipeline.draft.choice import Fitted
from anon_pipeline.draft.lacking_records import RECODED_OUT, lacking_columns
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.policy.columns import Perturb
from anon_pipeline.policy.load import parse_policy
from anon_pipeline.policy.model import TYPE
from anon_pipeline.stages.deidentify import new_key_command
from anon_pipeline.tuning.results import DROWNED

_WIDTH = 110
_OF_THE_DATASET = (
    "Two releases of the same people under different names are counted together only with the same dataset "
    "(docs/policy.md#dataset-budget). Default: the name."
)
_HEAD = """\
A policy proposed by `anon-pipeline init`. Names, forms and numbers of values were looked at, not what they
mean: read each line. `# QUESTION:` stands where somebody who knows the data must decide. No column is taken
for public (role insensitive); a column that nothing is known of is dropped or generalized. No value of the
data stands here; tables of hierarchies, which have values, are in private files, which git ignores.
Keys: docs/policy.md. Next: answer each question, then delete it (its comment, not the line of the column):
until then nothing is published. Then anon-pipeline rehearse; anon-pipeline tune if too little is left;
anon-pipeline run.
"""


def policy_text(profile: Profile, fitted: Fitted, place: Place) -> str:
    """Write a policy with its reasons.

    Returns:
        The text of a file that `load_policy` reads as ``fitted.policy``.
    """
    attributes = attributes_of(profile, fitted.proposals, place, fitted.chosen)
    reasons = dict(_reasons(profile, fitted, place))
    lines = [*_comment(_HEAD, ""), f"type: {TYPE}", "", "attributes:"]
    for section, value in attributes.items():
        lines += [*([""] if section in reasons else []), *_comment(reasons.get(section, ""), "  ")]
        if section == "columns":
            lines += ["  columns:", *_columns(fitted, value, _noise_put_back(profile, fitted, place))]
        elif section in ("clean", "gate"):
            lines += [f"  {section}:", *_block(value)]
        else:
            lines.append(f"  {section}: {_flow(value)}")
        if section == "name":
            lines += [*_comment(_OF_THE_DATASET, "  "), f"  # dataset: {_flow(value)}"]
    text = "\n".join(lines) + "\n"
    if parse_policy(text).digest != fitted.policy.digest:
        raise AssertionError("what is written must be the policy that was tuned")
    return text


def _flow(value: Any) -> str:
    """Write a value on one line."""
    written = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return written.removesuffix("...\n").strip()


def _block(section: Mapping[str, Any]) -> Iterator[str]:
    """Write a section with a line for each key, and for each column below ``columns``."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield f"    {name}:"
            yield from (f"      {_flow(str(column))}: {_flow(own)}" for column, own in value.items())
        else:
            yield f"    {name}: {_flow(value)}"


def _comment(text: str, indent: str) -> list[str]:
    """Write a text as comments, a paragraph for each line that begins with QUESTION."""
    lines: list[str] = []
    for paragraph in text.replace("\nQUESTION", "\0QUESTION").split("\0"):
        lines += textwrap.wrap(" ".join(paragraph.split()), _WIDTH - len(indent) - 2)
    return [f"{indent}# {line}" for line in lines]


def _columns(fitted: Fitted, columns: Mapping[str, Any], put_back: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the columns.

    Args:
        put_back: of columns with noise that were left out, what to write so that they are judged as before.
    """
    for proposal in fitted.proposals:
        question = f"\nQUESTION: {proposal.question}" if proposal.question else ""
        question += f" {put_back[proposal.name]}" if question and proposal.name in put_back else ""
        yield from _comment(f"{proposal.sure}: {proposal.reason}{question}", "    ")
        yield f"    {_flow(proposal.name)}: {_flow(columns[proposal.name])}{_explanation(proposal)}"


def _noise_put_back(profile: Profile, fitted: Fitted, place: Place) -> dict[str, str]:
    """Say what to write to have a column with noise again that was left out, by its name.

    The limits on noise are in the policy only as long as a column has noise; the gate's defaults are looser.
    """
    own = attributes_of(profile, fitted.proposals, place, fitted.chosen)
    now = {proposal.name: proposal for proposal in fitted.proposals}
    said = {}
    for before in profile.proposals:
        if isinstance(before.column, Perturb) and now[before.name].dropped:
            whole = [before if one.name == before.name else one for one in fitted.proposals]
            wanted = attributes_of(profile, whole, place, fitted.chosen)
            said[before.name] = f"Then write {'; '.join(_lines_of(before.name, wanted, own))}."
    return said


def _lines_of(name: str, wanted: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that a column with noise needs and the policy lacks, and where they stand."""
    cleaned = wanted.get("clean", {}).get("columns", {}).get(name)
    if cleaned is not None:
        yield f"under clean.columns {_flow(name)}: {_flow(cleaned)}"
    yield f"under columns {_flow(name)}: {_flow(wanted['columns'][name])}"
    sections = [f"{key}: {_flow(value)}" for key, value in wanted.items() if key not in own]
    if sections:
        yield f"below attributes {', '.join(sections)}"
    limits = [f"{key}: {_flow(value)}" for key, value in wanted["gate"].items() if key not in own["gate"]]
    if limits:
        yield f"and under gate {', '.join(limits)}, as init has tried it: without them the gate demands less"


def _explanation(proposal: Proposal) -> str:
    """Say what the numbers of a hierarchy mean, where its model says so."""
    said = getattr(getattr(proposal.column, "hierarchy", None), "explained", "")
    return f"  # {said}" if said else ""


def _reasons(profile: Profile, fitted: Fitted, place: Place) -> Iterator[tuple[str, str]]:
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
    return said


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
        if fitted.telling:
            said += " and leaves one value in the fewest columns"
    if ks:
        said += f", tried on {fitted.records:,} records"
    noise = "" if fitted.policy.perturb is None else ", and no ε above that of this policy"
    said += (
        f". anon-pipeline tune compares other k, up to 100{noise}, so that it may recommend others. "
        "suppression_limit: the share of the records that may be left out for k."
    )
    if fitted.rehearsal is not None and fitted.rehearsal.silent:
        smaller = ", or take a smaller k" if chosen.k > min(fitted.compared, default=chosen.k) else ""
        said += (
            f"\nQUESTION: do your readers need {', '.join(fitted.rehearsal.silent)}? In a rehearsal all "
            "records had one value there. If no, drop the column. If yes, drop another column with role "
            f"generalize that they need less{smaller}."
        )
    return said


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
            f"{DROWNED[0].upper()}{DROWNED[1:]}. If no, drop the column, write role: generalize, or take a "
            "larger ε if you can promise it. If means over many records are enough, keep it."
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
