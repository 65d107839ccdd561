"""Bringing the ledger's tables to this version: Alembic's scripts, run in one transaction, under the lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from anon_pipeline.base.errors import InputError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory


VERSIONS = ("0001", "0002", "0003", "0004", "0005")
"""All versions of the tables, oldest first."""

_TABLE = "anon_pipeline_ledger_version"


def is_up_to_date(connection: sa.Connection, shown: str) -> bool:
    """Tell whether the tables are of this version.

    Args:
        connection: in a transaction.
    Raises:
        InputError: they are of a version that this one does not know.
    """
    found = _version(connection)
    if found is not None and found not in VERSIONS:
        raise InputError(
            f"the ledger {shown} must be of a version up to {VERSIONS[-1]}, got a newer one. "
            f"Upgrade anon-pipeline."
        )
    return found == VERSIONS[-1]


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(_TABLE):
        return None
    return connection.execute(sa.text(f"SELECT version_num FROM {_TABLE}")).scalar()  # noqa: S608 - our constant


def upgrade(connection: sa.Connection, shown: str, *, to: str = VERSIONS[-1]) -> None:
    """Make or upgrade the tables, all or nothing.

    Args:
        connection: in the transaction that holds the lock: another may have upgraded while we waited.
        to: the version to end at.
    Raises:
        InputError: the tables are of a newer version.
    """
    if is_up_to_date(connection, shown):
        return
    from alembic.config import Config  # noqa: PLC0415 - a tenth of a second, once in a ledger's life
    from alembic.runtime.environment import EnvironmentContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    scripts: ScriptDirectory = ScriptDirectory.from_config(config)

    def steps(revision: Any, _: object) -> Any:
        """Return the migrations from the revision of a ledger to the one that is wanted."""
        return scripts._upgrade_revs(to, revision)  # what alembic.command.upgrade does

    with EnvironmentContext(config, scripts, fn=steps, destination_rev=to) as environment:
        environment.configure(connection=connection, version_table=_TABLE, transactional_ddl=True)
        environment.run_migrations()
