"""The changes of the ledger's tables, oldest first; Alembic runs them (see `migrate`)."""
