"""The ledger: which releases of a dataset there are, in which state, and how much ε they have spent.

Belongs here: the events, their hash chain, the budget, keeping them in SQLite or PostgreSQL. Does not belong
here: reading destinations (`publish`), any value of the data.
Decisions: docs/adr/0007-the-ledger.md.
"""

from anon_pipeline.ledger.book import Ledger, ledger_at
from anon_pipeline.ledger.budget import exact_text
from anon_pipeline.ledger.requests import Asked, requested_by

__all__ = ["Asked", "Ledger", "exact_text", "ledger_at", "requested_by"]
