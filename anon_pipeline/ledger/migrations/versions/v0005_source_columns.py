"""Version 5: the digest of the names of the source's columns, by which two datasets may be of one table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add a column that is null in the events there are: no hash changes."""
    op.add_column("anon_pipeline_events", sa.Column("source_columns", sa.Text))
