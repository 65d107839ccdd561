"""The command that proposes a policy for a table: `init`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import NEW_FILE, data_argument, json_option, project_option, show_values
from anon_pipeline.cli.shared import Progress, echo_json, printable, shows_values

if TYPE_CHECKING:
    from anon_pipeline.base.places import TableUrl
    from anon_pipeline.draft.profile.look import Look
    from anon_pipeline.draft.profile.profile_table import Profile
    from anon_pipeline.draft.profile.proposals import Proposal

_SHOWN = 5  # values of a column, frequent and rare, that are shown to whoever asked for them


@click.command()
@data_argument
@click.option(
    "--to",
    "policy_file",
    type=NEW_FILE,
    help="The policy file to write. Default: next to DATA, named after it (of a URL: here).",
)
@click.option(
    "--name",
    help="Name of the release. Default: that of DATA's file; of --to where DATA says where the table lies.",
)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="COLUMN=ANSWER",
    help="Answer for a column, about which init then does not ask: leave out, known, noise, secret, person "
    "or as proposed. May be given several times.",
)
@click.option("--yes", "silent", is_flag=True, help="Ask nothing: questions stay in the file.")
@project_option
@show_values("the most and least frequent values of each column that is asked about; they are data")
@json_option
@click.pass_context
def init(  # noqa: PLR0913 - the options of a command
    ctx: click.Context,
    *,
    data: Path | TableUrl,
    policy_file: Path | None,
    name: str | None,
    answers: tuple[str, ...],
    silent: bool,
    project: Path | None,
    as_json: bool,
) -> None:
    """Look at DATA and write a policy for it that runs, with the reason of each decision.

    What could not be decided stands as a question in the file. Nothing is released and no ε is spent.

    DATA is a table's file, its URL (s3://, gs://, az://, https://), or a YAML file with the section
    source of a policy.
    """
    from anon_pipeline.draft.answers import answer_columns, columns_left_out  # noqa: PLC0415
    from anon_pipeline.draft.choice import fit  # noqa: PLC0415
    from anon_pipeline.draft.policy_draft import (  # noqa: PLC0415
        as_document,
        place_of,
        refuse_edited,
        summary,
        write_draft,
    )
    from anon_pipeline.draft.profile.profile_table import profile_file  # noqa: PLC0415
    from anon_pipeline.draft.profile.source_file import names_source  # noqa: PLC0415

    _refuse_without_answers(silent=silent, as_json=as_json)
    said = _answers_of(answers)
    target = _new_file(policy_file or _beside(data))
    root = _root(target, project)
    place = place_of(data, root, name or (_named_by(target) if names_source(data) else None))
    with Progress() as progress:
        found, frame = profile_file(data)
    found = replace(found, proposals=tuple(answer_columns(found, said)))
    refuse_edited(found, place, root)
    if found.odd:
        click.echo(found.odd_question, err=True)
    if not silent:
        found = replace(found, proposals=tuple(_ask_all(ctx, found, said)))
        refuse_edited(found, place, root)
    with Progress() as progress:
        fitted = fit(found, frame, place, observe=progress)
    tables = write_draft(found, fitted, place, target, root)
    if as_json:
        echo_json(as_document(fitted, target, tables))
        return
    against = [printable(name) for name in columns_left_out(found.proposals, fitted.proposals)]
    click.echo("\n".join(summary(fitted, target, tables, against=against)))


def _refuse_without_answers(*, silent: bool, as_json: bool) -> None:
    """Refuse to ask where nobody can answer."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if as_json and not silent:
        raise InputError("--json must be given with --yes: a program cannot be asked")
    if not silent and not sys.stdin.isatty():
        raise InputError("--yes must be given where nobody can be asked: standard input is not a terminal")


def _new_file(target: Path) -> Path:
    """Return the place of the policy; what is there already is not overwritten."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if target.exists():
        raise InputError(f"{target.name}: must not be there yet. Remove it, or name another file with --to.")
    return target


def _beside(data: Path | TableUrl) -> Path:
    """Return the default policy file: next to the data, of a URL in the current folder."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if isinstance(data, Path) and not data.name:
        raise InputError(
            "DATA must be a file or a folder with a name; write the folder's name for the current one"
        )
    return data.with_suffix(".yaml") if isinstance(data, Path) else Path(f"{data.stem}.yaml")


def _named_by(policy_file: Path) -> str:
    """Return the name of a release whose data has none: that of the policy file, or of Dagster's folder."""
    return policy_file.absolute().parent.name if policy_file.name == "defs.yaml" else policy_file.stem


def _root(policy_file: Path, project: Path | None) -> Path:
    from anon_pipeline.base.project import project_root  # noqa: PLC0415

    return project.absolute() if project is not None else project_root(policy_file)


def _answers_of(options: Sequence[str]) -> dict[str, str]:
    """Return the answers of the command line, by name of the column."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    said: dict[str, str] = {}
    for option in options:
        column, equals, answer = option.rpartition("=")
        if not equals:
            raise InputError("--answer must be COLUMN=ANSWER, such as salary=secret")
        if said.setdefault(column, answer) != answer:
            raise InputError(f"--answer must give one answer for a column, got different ones for: {column}")
    return said


def _ask_all(ctx: click.Context, found: Profile, said: Collection[str]) -> list[Proposal]:
    """Ask about each column that has a question and no answer; questions about spellings stay in the file."""
    from anon_pipeline.draft.profile.record_owners import without_owners  # noqa: PLC0415

    looks = {look.seen.name: look for look in found.looks}
    if found.questions:
        from anon_pipeline.draft.answers import MEANINGS  # noqa: PLC0415

        click.echo("What can be answered:")
        click.echo("\n".join(f"  {answer:<11}  {meaning}" for answer, meaning in MEANINGS.items()))
    proposals = list(found.proposals)
    for place, proposal in enumerate(found.proposals):
        if proposals[place].question is not None and proposal.name not in said:
            proposals[place] = _ask(ctx, proposals[place], looks[proposal.name])
            proposals = without_owners(proposals)
    return proposals


def _ask(ctx: click.Context, proposal: Proposal, look: Look) -> Proposal:
    from anon_pipeline.draft.answers import AS_PROPOSED, as_proposed, possible_answers, prompt_of  # noqa: PLC0415
    from anon_pipeline.draft.profile.output import holds  # noqa: PLC0415
    from anon_pipeline.draft.profile.record_owners import asks_for_owners  # noqa: PLC0415

    seen = proposal.seen
    click.echo(f"\n{proposal.name}: {holds(seen)}, {seen.different:,} different")
    answers = possible_answers(look, person=asks_for_owners(proposal))
    click.echo(f"  proposed: {proposal.role} ({proposal.reason})\n  {prompt_of(proposal, look, answers)}")
    if shows_values(ctx):
        order = look.counts.argsort()[::-1]
        first, last = order[:_SHOWN], order[max(_SHOWN, len(order) - _SHOWN) :]
        for what, places in (("most", first), ("least", last)):
            if len(places):
                values = ", ".join(printable(str(look.values.iloc[place])) for place in places)
                click.echo(f"  {what} frequent: {values}")
    said = click.prompt(
        "  What is it?",
        type=click.Choice([AS_PROPOSED, *answers]),
        default=AS_PROPOSED,
        show_choices=True,
    )
    return answers[said] if said in answers else as_proposed(proposal)
