"""Version 3: the checkpoint, from which a step goes on, and its digest in the event that follows it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add an empty table and a column that is null in the events there are: no hash changes."""
    op.create_table(
        "anon_pipeline_checkpoint",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.add_column("anon_pipeline_events", sa.Column("checkpoint", sa.Text))
