"""An acknowledgement for policies of tests that release a keyed hash, in force on the day of the test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any


def acknowledged(*columns: str, share: float = 1) -> list[dict[str, Any]]:
    """Return the section of a policy that acknowledges columns for a year.

    Args:
        share: that they single out at most; 1 holds for hashes, and for columns that single out most.
    """
    today = datetime.now(UTC).date()
    return [
        {
            "columns": list(columns),
            "share": share,
            "who": "Data office",
            "when": str(today - timedelta(days=1)),
            "why": "tables are joined by it",
            "until": str(today + timedelta(days=365)),
        }
    ]
