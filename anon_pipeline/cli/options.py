"""Arguments and options that several commands take, each declared once, and what follows from them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.local_paths import TablePath

if TYPE_CHECKING:
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.policy.model import Policy
    from anon_pipeline.policy.open_questions import Questioned
    from anon_pipeline.publish.accounting.archive import VaultArchive

Option = Callable[[Any], Any]

SHOW_VALUES = f"{__name__}.show_values"
MISTAKES_TO = f"{__name__}.mistakes_to"
"""Under these names a command's context has what the options say, for whoever ends the command."""

PATH = click.Path(path_type=Path)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

policy_argument: Option = click.argument("policy_file", metavar="POLICY", type=PATH)
release_argument: Option = click.argument("release", type=PATH)
data_argument: Option = click.argument("data", metavar="DATA", type=TablePath(path_type=Path))

partition_option: Option = click.option(
    "--partition", help="Key of a partition, for a policy whose schedule has partitions."
)
json_option: Option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON. Its schema: anon-pipeline schema COMMAND."
)
always_json_option: Option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    help="Taken as by other commands: JSON is printed in any case.",
)
project_option: Option = click.option(
    "--project",
    type=_FOLDER,
    help="Folder that the policy's paths are relative to. Default: the project that the policy file is in.",
)
_allow_outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    help="Let the policy's paths leave the project's folders (also ANON_PIPELINE_ALLOW_OUTSIDE=yes).",
)


def together(*options: Option) -> Option:
    """Return one decorator that adds options in this order."""

    def add(command: Any) -> Any:
        """Add the options to a command, the last one first, as decorators are applied."""
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _note(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return a callback that notes in the context what an option says."""
    return lambda ctx, _, value: ctx.meta.update({key: value})


def show_values(says: str) -> Option:
    """Return the option ``--show-values``.

    Args:
        says: what it shows on a terminal.
    """
    return click.option(
        "--show-values",
        is_flag=True,
        expose_value=False,
        callback=_note(SHOW_VALUES),
        help=f"On a terminal, show {says}.",
    )


show_values_option = show_values(
    "the names of undeclared columns, which may be data, the first records with mistakes, and exact measured "
    "values"
)
_mistakes_option = click.option(
    "--mistakes-to",
    type=NEW_FILE,
    expose_value=False,
    callback=_note(MISTAKES_TO),
    help="If the input has mistakes, first write which records they are, all of them, to this file, for you "
    "alone (mode 0600).",
)
project_options = together(project_option, _allow_outside_option)
"""Options ``project`` and ``allow_outside`` of commands whose policy has paths."""
source_options = together(project_options, _mistakes_option, show_values_option)
"""The same, and how to report mistakes, for commands that read the policy's source."""


def policy_option(says: str, *, required: bool = False) -> Option:
    """Return the option ``--policy``.

    Args:
        says: its help.
    """
    return click.option("--policy", "policy_file", required=required, type=PATH, help=says)


def jobs_option(says: str) -> Option:
    """Return the option ``--jobs``: how many at a time, by default one.

    Args:
        says: its help.
    """
    return click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help=says)


def this_project_option(says: str) -> Option:
    """Return the option ``--project`` of commands without a policy: by default this folder.

    Args:
        says: its help.
    """
    return click.option("--project", type=_FOLDER, default=Path(), show_default="this folder", help=says)


def locations_of(policy_file: Path, project: Path | None, *, outside: bool = False) -> Locations:
    """Return the folders of the project that a policy belongs to, or of the one that was named."""
    from anon_pipeline.base.project import project_root  # noqa: PLC0415
    from anon_pipeline.policy.locations import Locations  # noqa: PLC0415

    return Locations.of(project or project_root(policy_file), outside=outside)


def open_policy(
    policy_file: Path, project: Path | None, *, outside: bool = False, retired: bool = False
) -> tuple[Policy, Locations]:
    """Read a policy, and return it with the folders of its project, which its paths may not leave.

    Args:
        outside: whether they may.
        retired: whether it is of a release that was made, see `load_policy`.
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policy = load_policy(policy_file, retired=retired)
    locations = locations_of(policy_file, project, outside=outside)
    locations.confine(policy)
    return policy, locations


def command_to_run(policy_file: Path, options: Mapping[str, Any], *more: str) -> str:
    """Write the command that releases by a policy, of the same partition and project, as a shell reads it.

    Args:
        options: of this command.
        more: words after the policy's file.
    """
    words = [*shlex.split("anon-pipeline run"), as_argument(policy_file), *more]
    if options.get("partition") is not None:
        words += ["--partition", str(options["partition"])]
    return " ".join(map(_quote, [*words, *_project_words(options)]))


def next_of_rehearsal(policy: Questioned, policy_file: Path, options: Mapping[str, Any]) -> str:
    """Say after a rehearsal that nothing was published, and how to publish.

    Args:
        options: of this command.
    """
    first = "answer the questions and delete their lines, then: " if policy.open_questions else ""
    command = command_to_run(policy_file, options)
    return f"Nothing was published, and no ε was spent. To publish: {first}{command}"


def as_argument(path: Path) -> str:
    """Write a path so that no command takes it for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def command_to_collect(folder: Path, policy_file: Path, options: Mapping[str, Any]) -> str:
    """Write the command that collects the releases in a folder, of the same project, as a shell reads it.

    Args:
        options: of this command.
    """
    words = ["anon-pipeline", "collect", as_argument(folder), "--policy", str(policy_file)]
    return " ".join(map(_quote, [*words, *_project_words(options)]))


def _project_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options that say which project a policy belongs to."""
    words = [] if options.get("project") is None else ["--project", str(options["project"])]
    return [*words, "--allow-outside"] if options.get("allow_outside") else words


def _quote(word: str) -> str:
    r"""Quote a word as shells read it; signs that a terminal obeys by their bytes.

    >>> [_quote(word) for word in ("a.yaml", "a b", "a\nb'")]
    ['a.yaml', "'a b'", "$'a\\x0ab\\x27'"]
    """
    if word.isprintable():
        return shlex.quote(word)
    plain = set(range(0x20, 0x7F)) - {*b"'\\"}
    return f"$'{''.join(chr(one) if one in plain else f'{chr(92)}x{one:02x}' for one in os.fsencode(word))}'"


def archive_of(policy: Policy, locations: Locations) -> VaultArchive | None:
    """Return what keeps the memory of what was published, and warn if it is not encrypted."""
    if policy.record_key is None:
        return None
    from anon_pipeline.publish.accounting.archive import VaultArchive  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415

    if keys_from().current is None:
        click.echo(
            "warning: the vault is not encrypted: there is no key. The memory (record_key) holds original "
            "values; only file permissions protect it. Set ANON_PIPELINE_VAULT_KEY, _KEY_FILE or "
            "_KEY_COMMAND.",
            err=True,
        )
    return VaultArchive(policy, locations)
