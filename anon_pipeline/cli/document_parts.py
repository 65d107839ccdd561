"""Parts of the JSON Schemas of what commands print: types of values, and what several commands have.

The schemas themselves are in `cli.documents`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT, BIT = {"type": "string"}, {"type": "boolean"}
COUNT = {"type": "integer"}
COUNTS = {"type": "object", "additionalProperties": COUNT}
NUMBER = {"type": ["number", "null"]}
WORDS = {"type": ["string", "null"]}
EFFECT = {"enum": ["strengthens", "weakens", "neutral", "cannot be compared"]}
STATUS = {"enum": ["passed", "warned", "refused", "unmeasured"]}
SENSE = {"enum": ["at least", "at most", "below", "holds"]}


def object_of(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of an object, whose keys are all there, or may be."""
    return {"type": "object", "required": [*required], "properties": {**required, **optional}}


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def rows_of(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    """Return the schema of a list of objects, as of `object_of`."""
    return list_of(object_of(required, **optional))


VERDICT = object_of(
    {
        "limit": TEXT,
        "status": STATUS,
        "value": {**NUMBER, "description": "None where it is not published, see SECURITY.md."},
        "bound": NUMBER,
        "sense": SENSE,
        "reason": WORDS,
    },
    band=TEXT,
)
CHANGE = object_of(
    {
        "of": {"enum": ["field", "limit"]},
        "where": {**TEXT, "description": "Key of the policy, or name of the limit."},
        "effect": EFFECT,
        "before": TEXT,
        "after": TEXT,
        "note": TEXT,
    }
)
POINT = object_of(
    {
        "recoder": TEXT,
        "k": COUNT,
        "epsilon": NUMBER,
        "confidence": NUMBER,
        "amounts": {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "description": "Of the columns that are changed as a whole.",
        },
        "error": NUMBER,
        "error_of_range": NUMBER,
        "linking": NUMBER,
        "linking_released": NUMBER,
        "linking_known": {**NUMBER, "description": "By an attacker who knows a perturbed category."},
        "suppression": NUMBER,
        "suppression_at_most": NUMBER,
        "linking_error": NUMBER,
        "suppression_error": NUMBER,
        "information_loss": NUMBER,
        "loss": NUMBER,
        "verdict": {**TEXT, "description": "passes, with what warns; or the limits that it does not keep."},
        "front": BIT,
        "recommended": BIT,
    }
)

OUTCOME = object_of(
    {
        "passes": {**BIT, "description": "Whether the gate would pass it as a first release."},
        "refused": {**list_of(TEXT), "description": "Limits that it does not keep."},
        "warned": list_of(TEXT),
        "released": {**NUMBER, "description": "Share of the input."},
        "classes": COUNT,
        "smallest_class": COUNT,
        **dict.fromkeys(("linking", "loss", "score", "granularity", "noise", "correlations"), NUMBER),
        **dict.fromkeys(("propensity", "queries", "classifier", "seconds"), NUMBER),
    }
)
ALIKE = object_of(
    {
        "lost": object_of(
            dict.fromkeys(
                (
                    *("columns", "pairs", "correlations", "propensity", "components", "regressions"),
                    "surprising",
                ),
                NUMBER,
            )
        ),
        "learned": object_of(
            {
                "copied": NUMBER,
                "membership": NUMBER,
                "gains": {"type": "object", "additionalProperties": NUMBER},
            }
        ),
        "refused": {**list_of(TEXT), "description": "Limits of its own gate that it does not keep."},
        "records": COUNT,
        "seconds": NUMBER,
        "risk": {**NUMBER, "description": "The most that an attacker learns beyond others' records: 0 to 1."},
        "loss": {**NUMBER, "description": "Of pairs of columns: 0 to 1."},
        "queries": {
            "anyOf": [
                rows_of(
                    {
                        "name": {**TEXT, "description": "Its place in the file of --sql, from 1."},
                        "rows": COUNT,
                        **dict.fromkeys(("missing", "invented", "mean", "median", "worst"), NUMBER),
                    }
                ),
                {"type": "null"},
            ],
            "description": "What each query of --sql loses; null without queries.",
        },
    }
)
PROFILED = object_of(
    {
        "name": TEXT,
        "holds": {**TEXT, "description": "In words."},
        "different": COUNT,
        "missing": COUNT,
        "distinction": NUMBER,
        "separation": NUMBER,
        "alone": NUMBER,
        "role": TEXT,
        "policy": {"type": "object", "description": "What a policy would say of the column."},
        "sure": TEXT,
        "reason": TEXT,
        "question": WORDS,
    }
)
RUN = object_of(
    {
        "published": BIT,
        "release": TEXT,
        "partition": WORDS,
        "verdicts": list_of(VERDICT),
        "advice": {**list_of(TEXT), "description": "What to change, where the gate refused."},
    },
    data={**TEXT, "description": "Path of the released file, of several the first one."},
    files={**list_of(TEXT), "description": "Paths of all data files."},
    manifest=TEXT,
    report=TEXT,
    left={**list_of(TEXT), "description": "What is left of the data, in words."},
    error={**TEXT, "description": "Why the release was refused before the gate; there are no verdicts then."},
    earlier={"type": "integer", "description": "Files of the previous release that are still in the folder."},
    records={"type": "integer", "description": "Records of the release."},
    records_before={
        "type": ["integer", "null"],
        "description": "Records of the release that it replaced; null: there was none.",
    },
    ledger=WORDS,
)
DIVISION = object_of(
    {
        "levels": {"type": "object", "description": "Of each generalize column, for the whole table."},
        "classes": {
            **WORDS,
            "description": "Column of the files that names each record's class; null: there are levels.",
        },
        "closeness": {"type": "object", "description": "t of columns that is smaller in a partition."},
        "apart": {**list_of(TEXT), "description": "Columns whose t holds within each partition only."},
        "partitions": {**list_of(TEXT), "description": "Keys of the partitions."},
        "files": {**TEXT, "description": "Folder of the partitions' files: personal data."},
        "encrypted": {**BIT, "description": "Whether these files are, with the vault's key."},
        "policy": {**TEXT, "description": "File of the policy of their releases."},
    },
    releases={**list_of(RUN), "description": "With --release: each partition that was judged."},
    collected={**WORDS, "description": "With --release: folder of the collection; null: there is none."},
    removed={**BIT, "description": "With --release: whether the partitions' files are."},
)

WARNINGS: Mapping[str, Any] = {
    **rows_of({"name": TEXT, "text": TEXT, "section": TEXT}),
    "description": "About the release, such as that the ledger has it as withdrawn.",
}
