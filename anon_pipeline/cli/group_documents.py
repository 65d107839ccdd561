"""The JSON that the commands of the groups `ledger` and `vault` print, see `documents`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.cli.document_parts import BIT, COUNT, COUNTS, TEXT, WORDS, object_of, rows_of

OF_GROUPS: Mapping[str, Mapping[str, Any]] = {
    "ledger list": object_of(
        {
            "broken_at": {
                "type": ["integer", "null"],
                "description": "Number of the event at which the hash chain breaks.",
            },
            "releases": rows_of(
                {
                    "id": TEXT,
                    "dataset": TEXT,
                    "release": TEXT,
                    "partition": WORDS,
                    "policy_digest": TEXT,
                    "data_digest": WORDS,
                    "state": TEXT,
                    "epsilon": {**TEXT, "description": "Exact: a decimal number or a fraction."},
                    "k": {"type": "integer"},
                    "since": {**TEXT, "description": "UTC, ISO 8601."},
                }
            ),
        }
    ),
    "ledger close": object_of(
        {
            "id": TEXT,
            "state": {**WORDS, "description": "null: this ledger does not know the id; nothing was booked."},
        }
    ),
    "ledger withdraw": object_of(
        {"id": TEXT, "state": TEXT, "notice": {**TEXT, "description": "To tell its recipients."}}
    ),
    "ledger verify": object_of(
        {
            "verified": BIT,
            "broken_at": {"type": ["integer", "null"], "description": "As in ledger list."},
            "events": COUNT,
            "last_hash": {**WORDS, "description": "To be noted elsewhere; null: no event, or broken."},
        }
    ),
    "ledger adopt": object_of(
        {"release": TEXT, "entered": rows_of({"id": TEXT, "epsilon": TEXT})},
    ),
    "ledger forget": object_of(
        {
            "release": TEXT,
            "releases": {**COUNT, "description": "Those that the memory no longer has to contain."},
        }
    ),
    "vault measured": object_of({"measured": {**TEXT, "description": "Path of the private file."}}),
    "vault waiting": object_of({"waiting": {**TEXT, "description": "Path of the private file."}}),
    "vault rotate": object_of(
        dict.fromkeys(("rewrapped", "before", "encrypted", "refused", "plain", "unfinished"), COUNT)
    ),
    "vault purge": object_of({"deleted": COUNT}),
    "vault new-people": object_of(
        {
            "release": TEXT,
            "releases_before_0_2": {**COUNT, "description": "Whose people need not be recognized."},
        }
    ),
    "vault status": object_of(
        {
            "key": {**WORDS, "description": "Id of the current key; null: the vault is not encrypted."},
            "encrypted": COUNTS,
            "plain": COUNT,
            "unfinished": COUNT,
            "other": COUNT,
            "tracked_by_git": COUNT,
        }
    ),
}
"""By command."""
