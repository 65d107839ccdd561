"""From a table to a policy file, in one call: what `init` does, for whoever asks no questions.

Belongs here: where the files go, and writing them. Does not belong here: any decision about a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anon_pipeline.base.disk import replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.draft.attributes import Place, plain_name, table_files
from anon_pipeline.draft.fitting import Fitted, fit
from anon_pipeline.draft.policy_text import policy_text, questions_in
from anon_pipeline.draft.private_files import write_table
from anon_pipeline.draft.rehearsal import describe
from anon_pipeline.profile.profiling import Profile, profile_file


def draft(data: Path, policy_file: Path, project: Path, *, name: str, observe: Observer = ignore) -> Fitted:
    """Look at a table and write a policy for it that runs; questions stay in the file.

    Args:
        data: the table, within the project.
        policy_file: to be written; it must not be there yet.
        project: what the policy's paths are relative to.
        name: of the release.
    Raises:
        InputError: the table cannot be used, is outside of the project, or there is a policy.
    """
    if policy_file.exists():
        raise InputError(f"{policy_file.name}: must not be there yet")
    place = place_of(data, project, name)
    found, frame = profile_file(data)
    fitted = fit(found, frame, place, observe=observe)
    write_draft(found, fitted, place, policy_file, project)
    return fitted


def place_of(data: Path, project: Path, name: str | None) -> Place:
    """Return the name of the release and the path of its file, relative to the project.

    Raises:
        InputError: the file is outside of the project.
    """
    file, folder = data.resolve(), project.resolve()
    if not file.is_relative_to(folder):
        raise InputError(
            f"{data.name}: must be within the project of the policy file. Name a policy file in the folder "
            f"of the data, or above it, with --to."
        )
    return Place(plain_name(name or data.stem), file.relative_to(folder).as_posix())


def write_draft(found: Profile, fitted: Fitted, place: Place, target: Path, project: Path) -> list[str]:
    """Write the private tables, then the policy; return the paths of the tables.

    Raises:
        InputError: a file cannot be written.
    """
    text = policy_text(found, fitted, place)
    rows = {proposal.name: proposal.rows for proposal in fitted.proposals}
    tables = table_files(fitted.proposals, place)
    for column, path in tables.items():
        write_table(project / path, rows[column])
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode("utf-8"), mode=0o644, what="policy")
    except OSError as error:
        reason = error_words(error)
    else:
        return [str(path) for path in tables.values()]
    raise InputError(f"{target.name} must be writable: {reason}")


def summary(fitted: Fitted, target: Path) -> list[str]:
    """Say in lines what was written, what a rehearsal has left, and what to do next.

    Args:
        target: the policy, written.
    """
    roles = dict.fromkeys(proposal.role for proposal in fitted.proposals)
    counts = [f"{sum(p.role == role for p in fitted.proposals)} {role}" for role in roles]
    asked = questions_in(target.read_text(encoding="utf-8"))
    stand = "question stands" if asked == 1 else "questions stand"
    lines = [f"wrote {target}: {', '.join(counts)}; {asked} {stand} in it"]
    if fitted.problem or fitted.refused:
        why = fitted.problem or "refused by " + ", ".join(fitted.refused)
        lines.append(f"The policy does not pass yet: {why}. Answer the questions in the file.")
    elif fitted.rehearsal is not None:
        lines += describe(fitted.rehearsal, fitted.drowned)
        lines.append(f"Read the file, then: anon-pipeline run {target}")
    return lines


def as_document(fitted: Fitted, target: Path, tables: Sequence[str]) -> dict[str, Any]:
    """Return what `summary` says, as JSON types.

    Args:
        target: the policy. tables: paths of the private ones.
    """
    return {
        "policy": str(target),
        "tables": list(tables),
        "passes": not (fitted.problem or fitted.refused),
        "refused": list(fitted.refused),
        "problem": fitted.problem or None,
        "roles": dict(Counter(one.role for one in fitted.proposals)),
        "questions": sum(one.question is not None for one in fitted.proposals),
    }
