"""A process that a client of Dagster Pipes has started: what it was asked for, and the way back.

Belongs here: opening Pipes, and what needs no Dagster. Does not belong here: what is reported of a release,
see `pipes_report`; the side that starts the process, see `release_elsewhere`.

Decision: docs/adr/0083-a-release-made-elsewhere.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anon_pipeline.base.errors import AnonPipelineError, InputError
from anon_pipeline.base.quiet import own_words

if TYPE_CHECKING:
    from dagster_pipes import PipesContext

    from anon_pipeline.policy.model import Policy

POLICY_DIGEST = "anon_pipeline/policy_digest"
"""Under this name Dagster sends the digest of its policy along, and compares it with what is reported."""
_VARIABLES = ("DAGSTER_PIPES_CONTEXT", "DAGSTER_PIPES_MESSAGES")
_UNSET = f"To make the release without reporting it, unset {' and '.join(_VARIABLES)}."


@contextmanager
def pipes_of_process() -> Iterator[PipesContext | None]:
    """Open the way back to Dagster if a Pipes client has started this process; None if none has.

    A program that has opened it already, with a message writer of its own, keeps it. Only the text of a named
    error goes back: the same that the command line prints.

    Raises:
        InputError: it cannot be opened.
    """
    pipes = _opened_before()
    if pipes is None and not any(name in os.environ for name in _VARIABLES):
        yield None
        return
    ours = pipes is None
    pipes = _open() if pipes is None else pipes
    try:
        yield pipes
    except AnonPipelineError as error:
        with own_words():
            pipes.log.error(f"error: {error}")
        raise
    finally:
        if ours:
            pipes.close()


def _opened_before() -> PipesContext | None:
    """Return what this process has opened; never the stand-in of a process that Dagster did not start."""
    if "dagster_pipes" not in sys.modules:
        return None
    from dagster_pipes import PipesContext  # noqa: PLC0415

    context = PipesContext.get() if PipesContext.is_initialized() else None
    return context if isinstance(context, PipesContext) and not context.is_closed else None


def _open() -> PipesContext:
    from dagster_pipes import (  # noqa: PLC0415
        PipesContext,
        PipesDefaultContextLoader,
        PipesDefaultMessageWriter,
        PipesEnvVarParamsLoader,
    )

    try:
        return PipesContext(
            PipesEnvVarParamsLoader(), PipesDefaultContextLoader(), PipesDefaultMessageWriter()
        )
    except Exception as error:  # noqa: BLE001 - variables and files may hold anything
        kind = type(error).__name__
    raise InputError(
        f"{' and '.join(_VARIABLES)} must be as a Dagster Pipes client sets them for the default loader and "
        f"writer of messages, got {kind}. For other writers call the command line from a program that opens "
        f"Pipes with them. {_UNSET}"
    )


def refuse_other_request(pipes: PipesContext, policy: Policy, partition: str | None) -> None:
    """Refuse to make another release than the one that Dagster waits for; asked before anything is read.

    Raises:
        InputError: Dagster waits for another asset, partition or policy.
    """
    asked = pipes.partition_key if pipes.is_partition_step else None
    problems = []
    if f"{policy.name}/published" not in (pipes.asset_keys if pipes.is_asset_step else ()):
        problems.append(f"Dagster Pipes waits for another asset than {policy.name}/published. {_UNSET}")
    elif asked != partition:
        problems.append(
            f"--partition must be the partition of Dagster's run, {asked}"
            if asked is not None
            else "--partition must be left out: the run in Dagster has no partition"
        )
    if pipes.extras.get(POLICY_DIGEST, policy.digest) != policy.digest:
        problems.append(
            "the policy must be the one that Dagster has loaded, its digest is another. Both sides need the "
            "same file, and the same environment variables if it is a template."
        )
    if problems:
        raise InputError(problems)
