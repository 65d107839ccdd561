"""The command for the second person: `review`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import PATH, json_option
from anon_pipeline.cli.shared import echo_json, warn_of_questions

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy

_EXAMPLE = """
\b
Example:
  anon-pipeline review policy.yaml
"""


@click.command(epilog=_EXAMPLE)
@click.argument("policy_file", metavar="POLICY", type=PATH)
@click.option(
    "--who", metavar="NAME", help="Who reviews, a person or an office: asks the questions one by one."
)
@json_option
def review(policy_file: Path, who: str | None, as_json: bool) -> None:
    """Print what a second person confirms of a policy, or ask it.

    With --who each question is asked, and after yes to all of them the section is printed that makes the
    policy a reviewed one. The reviewer must not be the author of the policy. Exits with 1 after a no.

    Nothing is written, and neither the data nor a file that the policy names is read. A policy that nobody
    has reviewed as it is, is published with a warning.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.limits.review_questions import (  # noqa: PLC0415 - with numba, a second
        protections,
        review_questions,
        risks_of_author,
        treatments,
    )
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.acknowledgements import names_somebody  # noqa: PLC0415
    from anon_pipeline.policy.open_questions import describe_questions  # noqa: PLC0415

    if who is not None and not names_somebody(who):
        raise InputError("--who must name a person or an office, in at least two letters")
    policy = load_policy(policy_file)
    standing = describe_questions(policy.open_questions)
    if who is not None and standing is not None:
        raise InputError(f"{standing}. Then somebody can confirm the policy")
    warn_of_questions(policy)
    questions = [*review_questions(policy)]
    document = {
        "name": policy.name,
        "is_reviewed": policy.is_reviewed,
        "columns": {words: names for words, names in treatments(policy) if names},
        "protections": [*protections(policy)],
        "risks": [{"key": key, "what": said} for key, said in risks_of_author(policy).items()],
        "questions": questions,
    }
    if as_json:
        echo_json(document)
        return
    _print(document)
    if policy.is_reviewed and policy.reviewed is not None:
        reviewed = policy.reviewed
        click.echo(f"\nReviewed by {reviewed.who} on {reviewed.when}: nothing that matters has changed.")
    elif who is None:
        click.echo("\nQuestions (--who asks them one by one)")
        for number, question in enumerate(questions, start=1):
            click.echo(f"  {number:2}. {question}")
    else:
        _ask(questions)
        _print_section(policy, who)


def _print(document: Mapping[str, Any]) -> None:
    """Print what happens to which columns, the limits, and what the author accepts."""
    columns = document["columns"]
    click.echo(f"{document['name']}: what a second person confirms\n\nColumns")
    width = max(map(len, columns), default=0)
    for words, names in columns.items():
        click.echo(f"  {words:{width}}  {', '.join(names)}")
    click.echo("\nProtection, and what a release must keep")
    for said in document["protections"]:
        click.echo(f"  - {said}")
    if document["risks"]:
        click.echo("\nAccepted by the author, beyond what is usual")
        for risk in document["risks"]:
            click.echo(f"  - {risk['key']}: {risk['what']}")


def _ask(questions: Sequence[str]) -> None:
    """Ask each question; end the program after a no.

    Raises:
        InputError: standard input ends before all are answered.
    """
    click.echo(f"\n{len(questions)} questions; after a no the policy must change")
    for number, question in enumerate(questions, start=1):
        if not _confirm(f"  {number:2}. {question}"):
            click.echo(f"Question {number} was answered with no. Change the policy, and review it again.")
            sys.exit(1)


def _confirm(question: str) -> bool:
    """Ask a question until it is answered with yes or no."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    try:
        return click.confirm(question, default=None)
    except click.Abort as ended:
        if not isinstance(ended.__context__, EOFError):
            raise  # Ctrl-C
    raise InputError(
        "--who must be given on a terminal: standard input ended before all questions were answered"
    )


def _print_section(policy: Policy, who: str) -> None:
    """Print the section that records the review."""
    from anon_pipeline.evidence.identifying_columns import utc_today  # noqa: PLC0415

    section = {"who": who, "when": utc_today().isoformat(), "digest": policy.review_digest}
    click.echo("\nAdd this to the attributes of the policy:\n  reviewed:")
    for key, text in section.items():
        click.echo(f"    {key}: {json.dumps(text, ensure_ascii=False)}")
