"""The command that makes a release's report anew, or the internal one: `report`."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.shared import (
    allow_outside_option,
    echo_json,
    json_option,
    locations_of,
    project_option,
    show_values_option,
)


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--policy", "policy_file", required=True, type=click.Path(path_type=Path), help="The policy that made it."
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
    policy_file: Path,
    internal: bool,
    out: Path | None,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Make the report of a release, as one HTML file.

    RELEASE is its folder or its manifest.

    The public report is already beside the manifest, unless the release was made before there were reports.
    The internal report shows each column before and after. It is for the curator alone.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.internal_report import internal_report_of  # noqa: PLC0415
    from anon_pipeline.publish.verify import Against, verified_table  # noqa: PLC0415
    from anon_pipeline.report import public_report  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    locations = locations_of(policy_file, project, outside=allow_outside)
    locations.confine(policy)
    with private_stage("report"):
        document, frame = verified_table(release, Against(policy, locations.hierarchies))
        path = new_page(out or Path(f"{policy.name}-{'internal' if internal else 'report'}.html"), release)
        if internal:
            page = internal_report_of(policy, document, locations)
        else:
            page = public_report(policy, document, frame)
        write_page(path, page, private=internal)
    if as_json:
        echo_json({"report": str(path), "internal": internal})
    else:
        click.echo(f"report    {path}")
    if internal:
        click.echo("It is computed from the originals and not protected: not for publication.", err=True)


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
    """Write a page, complete or not at all; a private one for its owner alone.

    Raises:
        InputError: it cannot be written.
    """
    from anon_pipeline.base.disk import replace_file  # noqa: PLC0415
    from anon_pipeline.base.errors import InputError, error_words  # noqa: PLC0415

    try:
        replace_file(path, page, mode=0o600 if private else 0o644, what="page")
    except OSError as error:
        raise InputError(f"{path}: must be a file that can be written: {error_words(error)}") from None
