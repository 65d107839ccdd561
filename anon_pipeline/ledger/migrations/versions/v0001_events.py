"""Version 1: the table of events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table of events."""
    needed = ("release_id", "at", "event", "dataset", "release", "policy_digest", "making")
    op.create_table(
        "anon_pipeline_events",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in needed),
        sa.Column("partition", sa.Text),
        sa.Column("data_digest", sa.Text),
        sa.Column("k", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("epsilon", "owner", "prev", "hash")),
    )
