"""Version 2: the head of the chain, which shows that the last events were cut off; rows cannot be changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_SQLITE = """
CREATE TRIGGER anon_pipeline_no_{verb} BEFORE {verb} ON anon_pipeline_events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END
"""
_FUNCTION = """
CREATE FUNCTION anon_pipeline_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$
"""
_POSTGRESQL = """
CREATE TRIGGER anon_pipeline_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON anon_pipeline_events
FOR EACH STATEMENT EXECUTE FUNCTION anon_pipeline_append_only()
"""


def upgrade() -> None:
    """Make the head from the last event there is, and the triggers."""
    op.create_table(
        "anon_pipeline_head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.execute(
        "INSERT INTO anon_pipeline_head (id, seq, hash) "
        "SELECT 1, seq, hash FROM anon_pipeline_events ORDER BY seq DESC LIMIT 1"
    )
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(_SQLITE.format(verb=verb))
    else:
        op.execute(_FUNCTION)
        op.execute(_POSTGRESQL)
