"""The command that judges policies without data, for hooks and CI: `check-policy`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from anon_pipeline.cli.declared_releases import check_declared_policy
from anon_pipeline.cli.options import PATH, json_option, locations_of, project_options
from anon_pipeline.cli.shared import echo_json

_EXAMPLE = """
\b
Example:
  anon-pipeline check-policy policy.yaml
  anon-pipeline check-policy --skip-others .
"""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of one file.

    file: as it was given, or found below a folder.
    problems: none, if it passed.
    accepted: what the policy accepts beyond what is usual, a sentence each with its key: no reason to refuse.
    losses: what a release is expected to lose, where policy and number of records alone decide it; lines.
    notes: what it does not limit, a sentence each; no warning.
    """

    file: Path
    status: Literal["passed", "refused", "skipped"]
    problems: tuple[str, ...] = ()
    accepted: tuple[tuple[str, str], ...] = ()
    losses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types, as ``--json`` prints it."""
        return {
            "file": self.file.as_posix(),
            "status": self.status,
            "problems": [*self.problems],
            "risks": [{"key": key, "what": said} for key, said in self.accepted],
            "losses": [*self.losses],
            "notes": [*self.notes],
        }


@click.command("check-policy", epilog=_EXAMPLE)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH)
@click.option(
    "--skip-others", is_flag=True, help="Leave out files that are no policies, instead of refusing."
)
@json_option
@project_options
def check_policy(
    paths: Sequence[Path], skip_others: bool, as_json: bool, project: Path | None, allow_outside: bool
) -> None:
    """Check policies without data.

    PATH is a policy, a policy.defaults.yaml, or a folder. Of a folder all policies in it and below are
    checked; of a policy.defaults.yaml itself, and all policies that it holds for.

    A policy must load, must not contradict itself, must keep its paths in the project, and must not be weaker
    than each policy.defaults.yaml that holds for it. Of an ε-DP release whose policy states records, the
    error that its noise is expected to cause is shown, and refused if it is above the policy's limit.

    What a policy accepts beyond what is usual is a warning: a release of it will have the same one.
    """
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    found = [_check(file, skip_others, project, allow_outside) for file in files]
    passed = not any(one.status == "refused" for one in found)
    if as_json:
        echo_json({"passed": passed, "policies": [one.to_json() for one in found]})
    else:
        for one in found:
            for problem in one.problems:
                click.echo(f"{one.file}: {problem}", err=True)
            for key, said in one.accepted:
                click.echo(f"{one.file}: warning: accepted.{key}: {said}", err=True)
            for line in one.losses:
                click.echo(f"{one.file}: {line}")
        for one in found:
            for note in one.notes:
                click.echo(f"{one.file}: note: {note}", err=True)
        checked = [one for one in found if one.status != "skipped"]
        refused, warned = (
            sum(bool(one.problems) for one in checked),
            sum(bool(one.accepted) for one in checked),
        )
        click.echo(f"policies checked: {len(checked)}, refused: {refused}, with warnings: {warned}")
    sys.exit(0 if passed else 2)


def _files(path: Path) -> Iterator[Path]:
    """Yield a file; of a folder, and of a `policy.defaults.yaml`, the policies below, but for hidden ones."""
    from anon_pipeline.policy.defaults_files import NAME  # noqa: PLC0415

    folder = path if path.is_dir() else path.parent
    if not path.is_dir():
        yield path
    if path.is_dir() or path.name == NAME:
        for file in sorted((*folder.rglob("*.yaml"), *folder.rglob("*.yml"))):
            inner = file.relative_to(folder).parts
            if not any(part.startswith(".") for part in inner) and _is_ours(file):
                yield file


def _is_ours(file: Path) -> bool:
    """Tell whether a file is a policy or a floor, or was meant as one: it names our types."""
    from anon_pipeline.base.size_bounds import POLICY_BYTES, read_small  # noqa: PLC0415
    from anon_pipeline.catalog.release_kinds import RELEASE_KINDS  # noqa: PLC0415
    from anon_pipeline.limits.floor import TYPE as FLOOR  # noqa: PLC0415
    from anon_pipeline.policy import TYPE  # noqa: PLC0415
    from anon_pipeline.policy.defaults_files import NAME  # noqa: PLC0415

    if file.name == NAME:
        return True
    try:
        data = read_small(file, POLICY_BYTES) or b""
    except OSError:
        return False
    others = [kind.type for kind in RELEASE_KINDS.values()]
    return any(kind.encode() in data for kind in (TYPE, FLOOR, *others))


def _check(file: Path, skip_others: bool, project: Path | None, outside: bool) -> Found:
    from anon_pipeline.base.errors import AnonPipelineError, InputError, PolicyError  # noqa: PLC0415
    from anon_pipeline.catalog.class_limits import CLASS_LIMITS  # noqa: PLC0415
    from anon_pipeline.limits.accepted_risks import accepted_risks  # noqa: PLC0415
    from anon_pipeline.limits.floor import read_floor  # noqa: PLC0415
    from anon_pipeline.limits.table import unlimited_secrets  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.contradictions import refuse_contradictions  # noqa: PLC0415
    from anon_pipeline.policy.defaults_files import NAME, refuse_below_defaults  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import kind_of_policy  # noqa: PLC0415
    from anon_pipeline.policy.open_questions import refuse_open_questions  # noqa: PLC0415

    if skip_others and file.is_file() and not _is_ours(file):
        return Found(file, "skipped")
    try:
        if file.name == NAME:
            read_floor(file)
        elif (kind := kind_of_policy(file)) is not None:
            locations = locations_of(file, project, outside=outside)
            return Found(file, "passed", (), *check_declared_policy(file, kind, locations))
        else:
            policy = load_policy(file)
            refuse_contradictions(policy)
            refuse_open_questions(policy.open_questions)
            if project is not None:
                refuse_below_defaults(policy, project)
            locations = locations_of(file, project, outside=outside)
            locations.confine(policy)
            locations.release(policy)
            notes = tuple(
                f"nothing limits what a class reveals of {name}: gate.{' or gate.'.join(CLASS_LIMITS)} would"
                for name in unlimited_secrets(policy)
            )
            return Found(file, "passed", accepted=tuple(accepted_risks(policy).items()), notes=notes)
    except (PolicyError, InputError) as error:
        return Found(file, "refused", error.problems)
    except AnonPipelineError as error:
        return Found(file, "refused", (str(error),))
    return Found(file, "passed")
