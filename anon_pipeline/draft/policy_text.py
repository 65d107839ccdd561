"""A proposed policy as a file: every decision with its reason, every question as ``# QUESTION:``.

No value of the data stands in it: it is committed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from anon_pipeline.draft.attributes import (
    Place,
    attributes_of,
)
from anon_pipeline.draft.choice import Fitted
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.draft.profile.questions import questions_of
from anon_pipeline.draft.section_reasons import section_reasons
from anon_pipeline.policy.columns import Perturb
from anon_pipeline.policy.load import parse_policy
from anon_pipeline.policy.model import TYPE

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
until then nothing is published. Instead of writing a role yourself, you can run init again with --to
ANOTHER_FILE and --answer COLUMN=ANSWER (leave out, known, noise, secret, person or as proposed): init then
writes the settings that the answer needs. Then anon-pipeline rehearse, which tries what helps if too little
is left; anon-pipeline tune compares k and ε; anon-pipeline run publishes.
"""


def policy_text(profile: Profile, fitted: Fitted, place: Place) -> str:
    """Write a policy with its reasons.

    Returns:
        The text of a file that `load_policy` reads as ``fitted.policy``.
    """
    attributes = attributes_of(profile, fitted.proposals, place, fitted.chosen)
    reasons = dict(section_reasons(profile, fitted, place))
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
        asked = questions_of(proposal.question) if proposal.question else []
        question = "".join(f"\nQUESTION: {one}" for one in asked)
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
