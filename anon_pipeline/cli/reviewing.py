"""The command for the second person: `review`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import PATH, json_option
from anon_pipeline.cli.shared import echo_json

if TYPE_CHECKING:
    from anon_pipeline.policy.review import Reviewed

_EXAMPLE = """
\b
Example:
  anon-pipeline review policy.yaml --who "Data protection office"
"""


@click.command(epilog=_EXAMPLE)
@click.argument("policy_file", metavar="POLICY", type=PATH)
@click.option("--who", default="NAME", metavar="NAME", help="Who reviews: a person or an office.")
@json_option
def review(policy_file: Path, who: str, as_json: bool) -> None:
    """Print what a second person confirms of a policy, and the section that records the review.

    Nothing is written, and neither the data nor a file that the policy names is read. Give the printed
    section to the policy only if the answer to every question is yes; the reviewer must not be the author of
    the policy. A policy without a review, or with one of another state, is published with a warning.
    """
    from anon_pipeline.evidence.identifying_columns import utc_today  # noqa: PLC0415
    from anon_pipeline.limits.review_questions import (  # noqa: PLC0415 - with numba, a second
        protections,
        review_questions,
        risks_of_author,
        treatments,
    )
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policy = load_policy(policy_file)
    document = {
        "name": policy.name,
        "is_reviewed": policy.is_reviewed,
        "columns": {words: names for words, names in treatments(policy) if names},
        "protections": [*protections(policy)],
        "risks": [{"key": key, "what": said} for key, said in risks_of_author(policy).items()],
        "questions": [*review_questions(policy)],
        "reviewed": {"who": who, "when": utc_today().isoformat(), "digest": policy.review_digest},
    }
    if as_json:
        echo_json(document)
    else:
        _print(document, policy.reviewed)


def _print(document: Mapping[str, Any], reviewed: Reviewed | None) -> None:
    """Print what `review` has found, and the section to be added unless the policy is reviewed as it is."""
    columns, section = document["columns"], document["reviewed"]
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
    click.echo("\nQuestions (after a no, change the policy)")
    for number, question in enumerate(document["questions"], start=1):
        click.echo(f"  {number:2}. {question}")
    if document["is_reviewed"] and reviewed is not None:
        click.echo(f"\nReviewed by {reviewed.who} on {reviewed.when}, and nothing that matters has changed.")
        return
    click.echo("\nIf every answer is yes, add this to the attributes of the policy:\n  reviewed:")
    for key, text in section.items():
        click.echo(f"    {key}: {json.dumps(text, ensure_ascii=False)}")
