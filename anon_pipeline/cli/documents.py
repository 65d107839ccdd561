"""The JSON that commands print with ``--json``: one JSON Schema for each of them.

Keys are only ever added: who reads them must let unknown ones be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.cli.document_parts import (
    ALIKE,
    BIT,
    CHANGE,
    COUNT,
    COUNTS,
    DIVISION,
    EFFECT,
    NUMBER,
    OUTCOME,
    POINT,
    PROFILED,
    RUN,
    TEXT,
    VERDICT,
    WARNINGS,
    WORDS,
    list_of,
    object_of,
    rows_of,
)
from anon_pipeline.cli.group_documents import OF_GROUPS
from anon_pipeline.cli.result_schemas import RESULTS

_VERIFIED: Mapping[str, Any] = {
    "verified": BIT,
    "in_part": {**BIT, "description": "By the public part of its policy, which is stored with it."},
    "verdicts": list_of(VERDICT),
    "unverified": rows_of({"path": TEXT, "why": TEXT}),
    "warnings": WARNINGS,
}
_TOGETHER: Mapping[str, Any] = object_of(
    {
        "policies": {**COUNT, "description": "Different ones that made them."},
        "records": {**COUNT, "description": "Of their inputs."},
        "released": COUNT,
        **dict.fromkeys(("classes", "smallest", "shared"), NUMBER),
    }
)
DOCUMENTS: Mapping[str, Mapping[str, Any]] = {
    **OF_GROUPS,
    "profile": object_of(
        {
            "records": COUNT,
            "layout": {
                "anyOf": [
                    object_of(
                        {"format": TEXT, "sep": WORDS, "encoding": WORDS, "guess": BIT, "skip_lines": COUNT}
                    ),
                    {"type": "null"},
                ],
                "description": "null: the source has none of these.",
            },
            "odd_records": object_of(dict.fromkeys(("empty", "nearly", "totals"), COUNT)),
            "missing_texts": list_of(TEXT),
            "together": {
                "anyOf": [
                    object_of(
                        {
                            "columns": list_of(TEXT),
                            "distinction": NUMBER,
                            "separation": NUMBER,
                            "alone": {**NUMBER, "description": "Share of the records."},
                        }
                    ),
                    {"type": "null"},
                ]
            },
            "columns": list_of(PROFILED),
        }
    ),
    "hierarchy": object_of(
        {
            "proposed": {
                **list_of(TEXT),
                "description": "Why, and what a policy says; or empty.",
            },
            "levels": rows_of({"values": COUNT, "least": COUNT, "most": COUNT}),
            "not_leaves": {**COUNT, "description": "Different values that are no leaf of the hierarchy."},
            "records_lacking": {**COUNT, "description": "Records with such a value."},
        }
    ),
    "review": object_of(
        {
            "name": TEXT,
            "is_reviewed": BIT,
            "columns": {"type": "object", "additionalProperties": list_of(TEXT)},
            "protections": list_of(TEXT),
            "risks": rows_of({"key": TEXT, "what": TEXT}),
            "questions": list_of(TEXT),
        }
    ),
    "diff": object_of(
        {
            "effect": {**EFFECT, "description": "Of all changes together; neutral without any."},
            "changes": list_of(CHANGE),
        }
    ),
    "check": object_of(
        {
            "passed": BIT,
            "releases": rows_of(
                {
                    "release": {**TEXT, "description": "Name of the file, or of the release's folder."},
                    "policy": TEXT,
                    "passed": BIT,
                    "policy_digest": TEXT,
                    "data_digest": TEXT,
                    "verdicts": list_of(VERDICT),
                }
            ),
        }
    ),
    "run": {
        "anyOf": [
            RUN,
            object_of(
                {"partitions": {**list_of(RUN), "description": "With --partitions, in order of time."}}
            ),
        ]
    },
    "rehearse": RUN,
    "divide": DIVISION,
    "demo": {
        "anyOf": [
            object_of(
                {
                    "data": {**TEXT, "description": "Path, as of manifest and report."},
                    "manifest": TEXT,
                    "report": TEXT,
                    "measured": {**TEXT, "description": "Name of what was measured, in the vault."},
                    "verdicts": list_of(VERDICT),
                }
            ),
            object_of({"file": {**TEXT, "description": "Path of the messy table, with --messy."}}),
        ]
    },
    "init": object_of(
        {
            "policy": {**TEXT, "description": "Path of the file."},
            "tables": {**list_of(TEXT), "description": "Paths of private tables: they have values."},
            "roles": {**COUNTS, "description": "Columns of each role."},
            "questions": {**COUNT, "description": "Those that stand in the file."},
            "passes": {**BIT, "description": "Whether a rehearsal passed."},
            "refused": {**list_of(TEXT), "description": "Limits that it did not keep."},
            "problem": WORDS,
            "said": {**list_of(TEXT), "description": "What the terminal shows: what is left, and warnings."},
        }
    ),
    "tune": object_of(
        {
            "release": TEXT,
            "records": COUNT,
            "points": list_of(POINT),
            "recommended": {"anyOf": [POINT, {"type": "null"}]},
            "impossible": rows_of({"recoder": TEXT, "k": COUNT}),
            "said": {**list_of(TEXT), "description": "What was found, in sentences."},
            "written": {**list_of(TEXT), "description": "Paths of --csv and --map."},
            "applied": {**BIT, "description": "Whether --apply has changed the policy."},
        }
    ),
    "compare": object_of(
        {
            "release": TEXT,
            "variants": rows_of(
                {
                    "variant": {**TEXT, "description": "What it has instead of the policy's values."},
                    "problem": {**WORDS, "description": "Why there is no release; null if there is one."},
                    "k": {"type": ["integer", "null"]},
                    "epsilon": {"type": ["number", "null"]},
                    "amounts": {
                        "type": "object",
                        "additionalProperties": {"type": "number"},
                        "description": "Of the columns that are changed as a whole.",
                    },
                    "weakens": {**BIT, "description": "Whether it weakens protection, as diff has it."},
                    "outcome": {"anyOf": [OUTCOME, {"type": "null"}]},
                }
            ),
            "written": {**list_of(TEXT), "description": "Paths of --csv and --map."},
        }
    ),
    "compare-kinds": object_of(
        {
            "policies": rows_of(
                {
                    "policy": {**TEXT, "description": "Name of its file, without the ending."},
                    "kind": {**TEXT, "description": "classes: a release of classes of at least k records."},
                    "problem": {**WORDS, "description": "Why there is no release; null if there is one."},
                    "found": {"anyOf": [ALIKE, {"type": "null"}]},
                }
            ),
            "written": {**list_of(TEXT), "description": "Paths of --csv and --map."},
        }
    ),
    "warmup": object_of({"compiled": {**COUNT, "description": "Kernels; 0: all were on disk."}}),
    "collect": object_of(
        {
            "collected": {**BIT, "description": "Whether both files were written."},
            "collection": {**WORDS, "description": "Path of the document."},
            "report": {**WORDS, "description": "Path of the page."},
            "releases": COUNT,
            "refused": rows_of({"release": TEXT, "why": TEXT}),
            "verdicts": list_of(VERDICT),
            "signed": BIT,
            "together": {"anyOf": [_TOGETHER, {"type": "null"}], "description": "As of verify."},
            "warnings": {
                **rows_of({"release": TEXT, "name": TEXT, "text": TEXT, "section": TEXT}),
                "description": "About releases, such as that the ledger has one as withdrawn.",
            },
        }
    ),
    "report": object_of(
        {"report": {**TEXT, "description": "Path of the page."}, "internal": BIT, "warnings": WARNINGS}
    ),
    "bundle": object_of({"bundle": {**TEXT, "description": "Path of the ZIP file."}, "warnings": WARNINGS}),
    "deliver": object_of(
        {"delivered": BIT, "release": TEXT, "partition": WORDS, "data_digest": TEXT},
    ),
    "keygen": object_of({"private_key": {**TEXT, "description": "Path, as of both."}, "public_key": TEXT}),
    "plugins": object_of(
        {
            "allowed": list_of(TEXT),
            "plugins": rows_of({"name": TEXT, "version": TEXT, "kinds": list_of(TEXT), "allowed": BIT}),
        }
    ),
    "doctor": object_of(
        {
            "checks": rows_of(
                {
                    "name": TEXT,
                    "looks_at": TEXT,
                    "verdict": {"enum": ["ok", "warn", "fail"]},
                    "found": TEXT,
                    "advice": TEXT,
                }
            )
        }
    ),
    "check-policy": object_of(
        {
            "passed": BIT,
            "policies": rows_of(
                {
                    "file": TEXT,
                    "status": {"enum": ["passed", "refused", "skipped"]},
                    "problems": list_of(TEXT),
                    "risks": {
                        **list_of(object_of({"key": TEXT, "what": TEXT})),
                        "description": "What the policy accepts beyond what is usual.",
                    },
                    "losses": {
                        **list_of(TEXT),
                        "description": "What its releases are expected to lose, where no data decides it.",
                    },
                    "notes": {**list_of(TEXT), "description": "What it does not limit."},
                }
            ),
        }
    ),
    "verify": object_of(
        _VERIFIED,
        releases={
            **rows_of({"release": TEXT, **_VERIFIED}),
            "description": "Only of a folder of releases: each, by the name of its folder.",
        },
        together={
            "anyOf": [_TOGETHER, {"type": "null"}],
            "description": "Only of a folder of releases; null: one is refused, or their names differ.",
        },
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
