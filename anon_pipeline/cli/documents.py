"""The JSON that commands print with ``--json``: one JSON Schema for each of them.

Keys are only ever added: who reads them must let unknown ones be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.cli.result_schemas import RESULTS

_TEXT, _BIT = {"type": "string"}, {"type": "boolean"}
_COUNT = {"type": "integer"}
_COUNTS = {"type": "object", "additionalProperties": _COUNT}
_NUMBER = {"type": ["number", "null"]}
_WORDS = {"type": ["string", "null"]}
_EFFECT = {"enum": ["strengthens", "weakens", "neutral", "cannot be compared"]}
_STATUS = {"enum": ["passed", "warned", "refused", "unmeasured"]}
_SENSE = {"enum": ["at least", "at most", "below", "holds"]}


def _object(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": {**required, **optional}}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _rows(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    return _list(_object(required, **optional))


_VERDICT = _object(
    {
        "limit": _TEXT,
        "status": _STATUS,
        "value": {**_NUMBER, "description": "None where it is not published, see SECURITY.md."},
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
_POINT = _object(
    {
        "recoder": _TEXT,
        "k": _COUNT,
        "epsilon": _NUMBER,
        "confidence": _NUMBER,
        "error": _NUMBER,
        "error_of_range": _NUMBER,
        "linking": _NUMBER,
        "linking_released": _NUMBER,
        "suppression": _NUMBER,
        "suppression_at_most": _NUMBER,
        "linking_error": _NUMBER,
        "suppression_error": _NUMBER,
        "information_loss": _NUMBER,
        "loss": _NUMBER,
        "verdict": {**_TEXT, "description": "passes, with what warns; or the limits that it does not keep."},
        "front": _BIT,
        "recommended": _BIT,
    }
)

_PROFILED = _object(
    {
        "name": _TEXT,
        "holds": {**_TEXT, "description": "In words."},
        "different": _COUNT,
        "missing": _COUNT,
        "distinction": _NUMBER,
        "separation": _NUMBER,
        "alone": _NUMBER,
        "role": _TEXT,
        "policy": {"type": "object", "description": "What a policy would say of the column."},
        "sure": _TEXT,
        "reason": _TEXT,
        "question": _WORDS,
    }
)
_RUN = _object(
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
    error={**_TEXT, "description": "Why a partition was refused before the gate."},
    earlier={"type": "integer", "description": "Files of the previous release that are still in the folder."},
    ledger=_WORDS,
)

DOCUMENTS: Mapping[str, Mapping[str, Any]] = {
    "profile": _object(
        {
            "records": _COUNT,
            "layout": {
                "anyOf": [
                    _object({"format": _TEXT, "sep": _WORDS, "encoding": _WORDS, "guess": _BIT}),
                    {"type": "null"},
                ],
                "description": "null: the source has none of these.",
            },
            "missing_texts": _list(_TEXT),
            "together": {
                "anyOf": [
                    _object(
                        {
                            "columns": _list(_TEXT),
                            "distinction": _NUMBER,
                            "separation": _NUMBER,
                            "alone": {**_NUMBER, "description": "Share of the records."},
                        }
                    ),
                    {"type": "null"},
                ]
            },
            "columns": _list(_PROFILED),
        }
    ),
    "hierarchy": _object(
        {
            "proposed": {
                **_list(_TEXT),
                "description": "Why, and what a policy says; or empty.",
            },
            "levels": _rows({"values": _COUNT, "least": _COUNT, "most": _COUNT}),
            "not_leaves": {**_COUNT, "description": "Different values that are no leaf of the hierarchy."},
            "records_lacking": {**_COUNT, "description": "Records with such a value."},
        }
    ),
    "diff": _object(
        {
            "effect": {**_EFFECT, "description": "Of all changes together; neutral without any."},
            "changes": _list(_CHANGE),
        }
    ),
    "check": _object(
        {
            "passed": _BIT,
            "releases": _rows(
                {
                    "release": {**_TEXT, "description": "Name of the file, or of the release's folder."},
                    "policy": _TEXT,
                    "passed": _BIT,
                    "policy_digest": _TEXT,
                    "data_digest": _TEXT,
                    "verdicts": _list(_VERDICT),
                }
            ),
        }
    ),
    "run": {
        "anyOf": [
            _RUN,
            _object({"partitions": {**_list(_RUN), "description": "With --partitions, in order of time."}}),
        ]
    },
    "ledger list": _object(
        {
            "broken_at": {
                "type": ["integer", "null"],
                "description": "Number of the event at which the hash chain breaks.",
            },
            "releases": _rows(
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
            ),
        }
    ),
    "demo": {
        "anyOf": [
            _object(
                {
                    "data": {**_TEXT, "description": "Path, as of manifest and report."},
                    "manifest": _TEXT,
                    "report": _TEXT,
                    "measured": {**_TEXT, "description": "Name of what was measured, in the vault."},
                    "verdicts": _list(_VERDICT),
                }
            ),
            _object({"file": {**_TEXT, "description": "Path of the messy table, with --messy."}}),
        ]
    },
    "init": _object(
        {
            "policy": {**_TEXT, "description": "Path of the file."},
            "tables": {**_list(_TEXT), "description": "Paths of private tables: they have values."},
            "roles": {**_COUNTS, "description": "Columns of each role."},
            "questions": {**_COUNT, "description": "Those that stand in the file."},
            "passes": {**_BIT, "description": "Whether a rehearsal passed."},
            "refused": {**_list(_TEXT), "description": "Limits that it did not keep."},
            "problem": _WORDS,
        }
    ),
    "tune": _object(
        {
            "release": _TEXT,
            "records": _COUNT,
            "points": _list(_POINT),
            "recommended": {"anyOf": [_POINT, {"type": "null"}]},
            "impossible": _rows({"recoder": _TEXT, "k": _COUNT}),
            "said": {**_list(_TEXT), "description": "What was found, in sentences."},
            "written": {**_list(_TEXT), "description": "Paths of --csv and --map."},
            "applied": {**_BIT, "description": "Whether --apply has changed the policy."},
        }
    ),
    "warmup": _object({"compiled": {**_COUNT, "description": "Kernels; 0: all were on disk."}}),
    "ledger close": _object(
        {
            "id": _TEXT,
            "state": {**_WORDS, "description": "null: this ledger does not know the id; nothing was booked."},
        }
    ),
    "ledger withdraw": _object(
        {"id": _TEXT, "state": _TEXT, "notice": {**_TEXT, "description": "To tell its recipients."}}
    ),
    "report": _object({"report": {**_TEXT, "description": "Path of the page."}, "internal": _BIT}),
    "bundle": _object({"bundle": {**_TEXT, "description": "Path of the ZIP file."}}),
    "deliver": _object(
        {"delivered": _BIT, "release": _TEXT, "partition": _WORDS, "data_digest": _TEXT},
    ),
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
        {"release": _TEXT, "entered": _rows({"id": _TEXT, "epsilon": _TEXT})},
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
            "plugins": _rows({"name": _TEXT, "version": _TEXT, "kinds": _list(_TEXT), "allowed": _BIT}),
        }
    ),
    "doctor": _object(
        {
            "checks": _rows(
                {
                    "name": _TEXT,
                    "looks_at": _TEXT,
                    "verdict": {"enum": ["ok", "warn", "fail"]},
                    "found": _TEXT,
                    "advice": _TEXT,
                }
            )
        }
    ),
    "vault status": _object(
        {
            "key": {**_WORDS, "description": "Id of the current key; null: the vault is not encrypted."},
            "encrypted": _COUNTS,
            "plain": _COUNT,
            "unfinished": _COUNT,
            "other": _COUNT,
            "tracked_by_git": _COUNT,
        }
    ),
    "check-policy": _object(
        {
            "passed": _BIT,
            "policies": _rows(
                {
                    "file": _TEXT,
                    "status": {"enum": ["passed", "refused", "skipped"]},
                    "problems": _list(_TEXT),
                    "risks": {
                        **_list(_object({"key": _TEXT, "what": _TEXT})),
                        "description": "What the policy accepts beyond what is usual.",
                    },
                }
            ),
        }
    ),
    "verify": _object(
        {
            "verified": _BIT,
            "in_part": {**_BIT, "description": "By the public part of its policy, which is stored with it."},
            "verdicts": _list(_VERDICT),
            "unverified": _rows({"path": _TEXT, "why": _TEXT}),
            "warnings": _rows({"text": _TEXT, "section": _TEXT}),
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
        **(RESULTS[command]() if command in RESULTS else DOCUMENTS[command]),
        "title": f"anon-pipeline {command} --json"
        if command != "ledger export"
        else "A line of ledger export",
    }
