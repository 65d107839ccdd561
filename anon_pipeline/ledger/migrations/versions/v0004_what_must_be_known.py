"""Version 4: the kind of partition, whether there was a memory, what is unusual, the digest of the rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add columns that are null in the events there are: no hash changes."""
    for name in ("partition_kind", "memory", "note", "rows_digest"):
        op.add_column("anon_pipeline_events", sa.Column(name, sa.Text))
