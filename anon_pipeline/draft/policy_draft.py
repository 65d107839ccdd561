"""From a table to a policy file, in one call: what `init` does, for whoever asks no questions.

Belongs here: where the files go, and writing them. Does not belong here: any decision about a column.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.base.disk import replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.places import TableUrl
from anon_pipeline.draft.attributes import KEY_NAME, Place, plain_name, table_files
from anon_pipeline.draft.choice import Fitted, fit
from anon_pipeline.draft.policy_text import policy_text
from anon_pipeline.draft.private_files import (
    make_private_folder,
    refuse_other_tables,
    write_table,
)
from anon_pipeline.draft.profile.profile_table import Profile, profile_file
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.draft.rehearsal import describe
from anon_pipeline.policy.open_questions import questions_in
from anon_pipeline.stages.deidentify import new_key_command


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A policy that was written.

    fitted: the policy, with what was decided on the way.
    tables: paths of its private tables.
    """

    fitted: Fitted
    tables: tuple[Path, ...]


def draft(
    data: Path | TableUrl, policy_file: Path, project: Path, *, name: str, observe: Observer = ignore
) -> Draft:
    """Look at a table and write a policy for it that runs; questions stay in the file.

    Args:
        data: the table, within the project, or what says where it lies; see `source_file.read_given`.
        policy_file: to be written; it must not be there yet.
        project: what the policy's paths are relative to.
        name: of the release.
    Raises:
        InputError: the table cannot be used, is outside of the project, or there is a policy, or a private
            table that it would write over.
    """
    if policy_file.exists():
        raise InputError(f"{policy_file.name}: must not be there yet")
    place = place_of(data, project, name)
    found, frame = profile_file(data)
    refuse_edited(found, place, project)
    fitted = fit(found, frame, place, observe=observe)
    return Draft(fitted, write_draft(found, fitted, place, policy_file, project))


def place_of(data: Path | TableUrl, project: Path, name: str | None) -> Place:
    """Return the name of the release and the path of its file, relative to the project.

    Args:
        name: default: that of the file.
    Raises:
        InputError: the file is outside of the project.
    """
    if isinstance(data, TableUrl):
        return Place(plain_name(name or data.stem), "")
    file, folder = data.resolve(), project.resolve()
    if not file.is_relative_to(folder):
        raise InputError(
            f"{data.name}: must be within the project of the policy file. Name a policy file in the folder "
            f"of the data, or above it, with --to."
        )
    return Place(plain_name(name or data.stem), file.relative_to(folder).as_posix())


def refuse_edited(found: Profile, place: Place, project: Path) -> None:
    """Refuse a policy whose private tables would be written over others, before it is fitted.

    Args:
        found: of the table; which columns get one, and what is in it.
    Raises:
        InputError: every table that is there and holds something else.
    """
    refuse_other_tables(_tables(found.proposals, place, project))


def _tables(
    proposals: Sequence[Proposal], place: Place, project: Path
) -> dict[Path, Sequence[Sequence[str]]]:
    rows = {proposal.name: proposal.rows for proposal in proposals}
    return {project / path: rows[column] for column, path in table_files(proposals, place).items()}


def write_draft(
    found: Profile, fitted: Fitted, place: Place, target: Path, project: Path
) -> tuple[Path, ...]:
    """Write the private tables, then the policy; return the paths of the tables.

    Raises:
        InputError: a table is there that may have been edited; a file cannot be written. Nothing is then
            written over.
    """
    text = policy_text(found, fitted, place)
    tables = _tables(fitted.proposals, place, project)
    refuse_other_tables(tables)
    for folder in sorted({path.parent for path in tables}):
        make_private_folder(folder)
    for path, rows in tables.items():
        write_table(path, rows)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode("utf-8"), mode=0o644, what="policy")
    except OSError as error:
        reason = error_words(error)
    else:
        return tuple(tables)
    raise InputError(f"{target.name} must be writable: {reason}")


def summary(
    fitted: Fitted, target: Path, tables: Sequence[Path], *, against: Sequence[str] = ()
) -> list[str]:
    """Say in lines what was written, what a rehearsal has left, and what to do next.

    Args:
        target: the policy, written.
        tables: the private ones.
        against: columns that are left out against an answer.
    """
    roles = dict.fromkeys(proposal.role for proposal in fitted.proposals)
    counts = [f"{sum(p.role == role for p in fitted.proposals)} {role}" for role in roles]
    asked = len(questions_in(target.read_text(encoding="utf-8")))
    stand = "question stands" if asked == 1 else "questions stand"
    lines = [f"wrote {_from_here(path)} (private: it has values; edit it)" for path in tables]
    lines.append(f"wrote {target}: {', '.join(counts)}; {asked} {stand} in it")
    if against:
        lines.append(f"left out against your answer: {', '.join(against)}; the file says why")
    if fitted.problem or fitted.refused:
        why = fitted.problem or "refused by " + ", ".join(fitted.refused)
        lines.append(f"The policy does not pass yet: {why}. Answer the questions in the file.")
    elif fitted.rehearsal is not None:
        lines += describe(fitted.rehearsal, fitted.drowned)
        if fitted.policy.deidentify is not None:
            lines.append(
                f"First set the variable {KEY_NAME} to a secret of 16 bytes or more (people are hashed): "
                f"{new_key_command(KEY_NAME)}. Keep it: the same one is needed each time."
            )
        first = "Answer the questions in the file, and delete them" if asked else "Read the file"
        lines.append(f"{first}, then: anon-pipeline rehearse {target}")
        lines.append(
            "If too little is left: anon-pipeline rehearse tries what helps; anon-pipeline tune compares k "
            "and ε. To publish: anon-pipeline run."
        )
    return lines


def as_document(fitted: Fitted, target: Path, tables: Sequence[Path]) -> dict[str, Any]:
    """Return what `summary` says, as JSON types, and its sentences; arguments as there."""
    return {
        "policy": str(target),
        "tables": [_from_here(path) for path in tables],
        "passes": not (fitted.problem or fitted.refused),
        "refused": list(fitted.refused),
        "problem": fitted.problem or None,
        "roles": dict(Counter(one.role for one in fitted.proposals)),
        "questions": len(questions_in(target.read_text(encoding="utf-8"))),
        "said": summary(fitted, target, tables),
    }


def _from_here(path: Path) -> str:
    """Return a path as it is called in the current folder, as a command's user would write it."""
    return os.path.relpath(path)
