"""The command that makes a release's report anew, or the internal one: `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.shared import (
    allow_outside_option,
    echo_json,
    json_option,
    locations_of,
    project_option,
    show_values_option,
)

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path),
    help="The policy that made it. Default: what is public of it, which lies beside the release.",
)
@click.option(
    "--internal",
    is_flag=True,
    help="Compare the release with the private tables, which must still be in the vault. Keep it private.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. Default: <name>-report.html or <name>-internal.html in this folder.",
)
@project_option
@allow_outside_option
@show_values_option
@json_option
def report(  # noqa: PLR0913 - the options of a command
    *,
    release: Path,
    policy_file: Path | None,
    internal: bool,
    out: Path | None,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Make the report of a release, as one HTML file.

    RELEASE is its folder or its manifest.

    The public report is already beside the manifest, unless the release was made before there were reports.
    It is made again of what is public of the policy, where --policy is left out or has moved on. The
    internal report shows each column before and after. It is for the curator alone, and needs --policy.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.publish.internal_report import internal_report_of  # noqa: PLC0415
    from anon_pipeline.publish.verify import Against, verified_table  # noqa: PLC0415
    from anon_pipeline.publish.verify_policy import policy_of_release, whole_policy  # noqa: PLC0415
    from anon_pipeline.report import public_report  # noqa: PLC0415

    given, locations = _given(policy_file, project, outside=allow_outside)
    with private_stage("report"):
        policy = given if internal and given is not None else policy_of_release(release, given)
        whole = whole_policy(policy)
        hierarchies = Path() if locations is None else locations.hierarchies
        document, frame = verified_table(release, Against(whole, hierarchies))
        path = new_page(out or Path(f"{policy.name}-{'internal' if internal else 'report'}.html"), release)
        if not internal:
            page = public_report(policy, document, frame)
        elif whole is None or locations is None:
            raise InputError("the internal report must be made with the policy of the release: --policy")
        else:
            page = internal_report_of(whole, document, locations)
        write_page(path, page, private=internal)
    if whole is None:
        click.echo(_IN_PART, err=True)
    if as_json:
        echo_json({"report": str(path), "internal": internal})
    else:
        click.echo(f"report    {path}")
    if internal:
        click.echo("It is computed from the originals and not protected: not for publication.", err=True)


_IN_PART = (
    "Made of what is public of its policy, which lies beside the release: values that the policy lists are "
    "not named."
)


def _given(
    policy_file: Path | None, project: Path | None, *, outside: bool
) -> tuple[Policy | None, Locations | None]:
    """Read the policy, and where its files are; nothing where none is given."""
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    if policy_file is None:
        return None, None
    policy = load_policy(policy_file, retired=True)
    locations = locations_of(policy_file, project, outside=outside)
    locations.confine(policy)
    return policy, locations


def new_page(path: Path, release: Path) -> Path:
    """Return where a page may be written.

    Args:
        release: folder of a release, or its manifest: readers take what is there for published.
    Raises:
        InputError: it is in that folder, no .html file by its name, or its folder is not there.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    folder = release if release.suffix != ".json" else release.parent
    if path.suffix != ".html":
        raise InputError("the report must be a file named .html, got another name")
    if not path.absolute().parent.is_dir():
        raise InputError("the report must go to a folder that is there, it is not")
    if path.resolve().is_relative_to(folder.resolve()):
        raise InputError("the report must not go to the release's folder: what is there counts as published")
    return path


def write_page(path: Path, page: bytes, *, private: bool) -> None:
    """Write a page, complete or not at all; a private one for its owner alone, and ignored by git.

    Raises:
        InputError: it cannot be written.
    """
    from anon_pipeline.base.disk import replace_file  # noqa: PLC0415
    from anon_pipeline.base.errors import InputError, error_words  # noqa: PLC0415
    from anon_pipeline.draft.private_files import write_private  # noqa: PLC0415

    if private:
        write_private(path, page)
        return
    try:
        replace_file(path, page, mode=0o644, what="page")
    except OSError as error:
        raise InputError(f"{path}: must be a file that can be written: {error_words(error)}") from None
