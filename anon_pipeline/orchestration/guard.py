"""What `defs.yaml` files may be, asked before Dagster reads them.

Dagster has a reader of its own, without limits, that runs before any component does.
"""

from pathlib import Path

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.open_questions import questions_in
from anon_pipeline.policy.policy_file import check_policy_file, policy_text

_NAMES = ("defs.yaml", "defs.yml", "component.yaml")


def check_defs(folder: Path) -> None:
    """Refuse a folder's `defs.yaml` that is beyond the limits of a policy, or gives a key twice.

    Args:
        folder: whose file Dagster reads; without one nothing is refused.
    Raises:
        PolicyError: naming file and limit.
    """
    found = _defs_in(folder)
    if found is None:
        return
    try:
        check_policy_file(found)
    except PolicyError as error:
        problems = [f"{found.parent.name}/{found.name}: {problem}" for problem in error.problems]
    else:
        return
    raise PolicyError(problems)


def questions_in_defs(folder: Path) -> tuple[int, ...]:
    """Return the lines with questions of `init` in a folder's `defs.yaml`; none where there is no file."""
    found = _defs_in(folder)
    return () if found is None else questions_in(policy_text(found))


def _defs_in(folder: Path) -> Path | None:
    return next((folder / name for name in _NAMES if (folder / name).exists()), None)


def check_defs_below(folder: Path) -> None:
    """Refuse the first file below a folder that `check_defs` refuses; call it before Dagster loads them.

    Args:
        folder: of releases, each in a folder of its own.
    Raises:
        PolicyError: naming file and limit.
    """
    for inner in sorted({path.parent for name in _NAMES for path in folder.rglob(name)}):
        check_defs(inner)
