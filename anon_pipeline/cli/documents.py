"""The JSON that commands print with ``--json``: one JSON Schema for each of them.

Keys are only ever added: who reads them must let unknown ones be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT, _BIT = {"type": "string"}, {"type": "boolean"}
_COUNT = {"type": "integer"}
_NUMBER = {"type": ["number", "null"]}
_WORDS = {"type": ["string", "null"]}
_EFFECT = {"enum": ["strengthens", "weakens", "neutral", "cannot be compared"]}
_STATUS = {"enum": ["passed", "warned", "refused", "unmeasured"]}
_SENSE = {"enum": ["at least", "at most", "below", "holds"]}


def _object(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **optional}}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_VERDICT = _object(
    {
        "limit": _TEXT,
        "status": _STATUS,
        "value": {**_NUMBER, "description": "None where it is not told, see SECURITY.md."},
        "bound": _NUMBER,
        "sense": _SENSE,
        "reason": _WORDS,
    },
    band=_TEXT,
)
_CHANGE = _object(
    {
        "of": {"enum": ["field", "limit"]},
        "where": {**_TEXT, "description": "Key of the policy, or name of the limit."},
        "effect": _EFFECT,
        "before": _TEXT,
        "after": _TEXT,
        "note": _TEXT,
    }
)

DOCUMENTS: Mapping[str, Mapping[str, Any]] = {
    "diff": _object(
        {
            "effect": {**_EFFECT, "description": "Of all changes together; neutral without any."},
            "changes": _list(_CHANGE),
        }
    ),
    "check": _object(
        {
            "passed": _BIT,
            "releases": _list(
                _object(
                    {
                        "release": {**_TEXT, "description": "Name of the file, or of the release's folder."},
                        "policy": _TEXT,
                        "passed": _BIT,
                        "policy_digest": _TEXT,
                        "data_digest": _TEXT,
                        "verdicts": _list(_VERDICT),
                    }
                )
            ),
        }
    ),
    "run": _object(
        {
            "published": _BIT,
            "release": _TEXT,
            "partition": _WORDS,
            "verdicts": _list(_VERDICT),
            "advice": {**_list(_TEXT), "description": "What to change, where the gate refused."},
        },
        data={**_TEXT, "description": "Path of the released file."},
        manifest=_TEXT,
        report=_TEXT,
        left={**_list(_TEXT), "description": "What is left of the data, in words."},
        earlier={"type": "integer", "description": "Files of the release before that lie beside it still."},
        ledger=_WORDS,
    ),
    "ledger list": _object(
        {
            "broken_at": {
                "type": ["integer", "null"],
                "description": "Number of the event at which the hash chain breaks.",
            },
            "releases": _list(
                _object(
                    {
                        "id": _TEXT,
                        "dataset": _TEXT,
                        "release": _TEXT,
                        "partition": _WORDS,
                        "policy_digest": _TEXT,
                        "data_digest": _WORDS,
                        "state": _TEXT,
                        "epsilon": {**_TEXT, "description": "Exact: a decimal number or a fraction."},
                        "k": {"type": "integer"},
                        "since": {**_TEXT, "description": "UTC, ISO 8601."},
                    }
                )
            ),
        }
    ),
    "report": _object({"report": {**_TEXT, "description": "Path of the page."}, "internal": _BIT}),
    "bundle": _object({"bundle": {**_TEXT, "description": "Path of the ZIP file."}}),
    "keygen": _object({"private_key": {**_TEXT, "description": "Path, as of both."}, "public_key": _TEXT}),
    "ledger verify": _object(
        {
            "verified": _BIT,
            "broken_at": {"type": ["integer", "null"], "description": "As in ledger list."},
            "events": _COUNT,
            "last_hash": {**_WORDS, "description": "To be noted elsewhere; null: no event, or broken."},
        }
    ),
    "ledger adopt": _object(
        {"release": _TEXT, "entered": _list(_object({"id": _TEXT, "epsilon": _TEXT}))},
    ),
    "ledger forget": _object(
        {
            "release": _TEXT,
            "releases": {**_COUNT, "description": "Those that the memory no longer has to contain."},
        }
    ),
    "vault measured": _object({"measured": {**_TEXT, "description": "Path of the private file."}}),
    "vault rotate": _object(
        dict.fromkeys(("rewrapped", "before", "encrypted", "refused", "plain", "unfinished"), _COUNT)
    ),
    "vault purge": _object({"deleted": _COUNT}),
    "vault new-people": _object(
        {
            "release": _TEXT,
            "releases_before_0_2": {**_COUNT, "description": "Whose people need not be recognized."},
        }
    ),
    "plugins": _object(
        {
            "allowed": _list(_TEXT),
            "plugins": _list(
                _object({"name": _TEXT, "version": _TEXT, "kinds": _list(_TEXT), "allowed": _BIT})
            ),
        }
    ),
    "doctor": _object(
        {
            "checks": _list(
                _object(
                    {
                        "name": _TEXT,
                        "looks_at": _TEXT,
                        "verdict": {"enum": ["ok", "warn", "fail"]},
                        "found": _TEXT,
                        "advice": _TEXT,
                    }
                )
            )
        }
    ),
    "vault status": _object(
        {
            "key": {**_WORDS, "description": "Id of the current key; null: the vault is not encrypted."},
            "encrypted": {"type": "object", "additionalProperties": {"type": "integer"}},
            "plain": {"type": "integer"},
            "unfinished": {"type": "integer"},
            "other": {"type": "integer"},
            "tracked_by_git": {"type": "integer"},
        }
    ),
    "check-policy": _object(
        {
            "passed": _BIT,
            "policies": _list(
                _object(
                    {
                        "file": _TEXT,
                        "status": {"enum": ["passed", "refused", "skipped"]},
                        "problems": _list(_TEXT),
                        "risks": {
                            **_list(_object({"key": _TEXT, "what": _TEXT})),
                            "description": "What the policy accepts beyond what is usual.",
                        },
                    }
                )
            ),
        }
    ),
    "verify": _object(
        {
            "verified": _BIT,
            "verdicts": _list(_VERDICT),
            "unverified": _list(_object({"path": _TEXT, "why": _TEXT})),
            "warnings": _list(_object({"text": _TEXT, "section": _TEXT})),
        }
    ),
}
"""By command."""


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON Schema of what a command prints with ``--json``.

    Raises:
        KeyError: the command prints none.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"anon-pipeline {command} --json",
        **DOCUMENTS[command],
    }
