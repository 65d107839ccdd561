"""A policy that says everything that a policy can say."""

from __future__ import annotations

from typing import Any

TREE = {"England": {"South": ["Bath"], "North": ["York"]}, "France": {"East": ["Lyon"], "Coast": ["Nice"]}}


EVERYTHING: dict[str, Any] = {
    "name": "everything",
    "source": {"path": "people.csv", "options": {"missing": ["?", "NA"]}, "limits": {"rows": 10}},
    "clean": {
        "strip": True,
        "unicode": "NFC",
        "missing": ["-"],
        "columns": {
            "height": {"thousands": "'", "currency": "cm"},
            "town": {"case": "upper", "values": {"BATH": "Bath"}},
            "note": {"truncate": 20},
        },
    },
    "columns": {
        "person": {"role": "identifier", "action": "hash"},
        "zip": {"role": "generalize", "hierarchy": {"table": "zip.csv"}},
        "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20], "bottom": 0}},
        "code": {"role": "generalize", "hierarchy": {"mask": [1, 3]}},
        "born": {"role": "generalize", "hierarchy": {"dates": ["month", "year"]}},
        "town": {"role": "generalize", "hierarchy": {"tree": TREE}},
        "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
        "height": {
            "role": "perturb",
            "resolution": 0.1,
            "output_bounds": [0, 300],
            "sensitivity": "declared",
            "input_bounds": [100, 250],
        },
        "grade": {"role": "sensitive", "distance": "ordered", "order": ["low", "high"]},
        "place": {"role": "sensitive", "distance": "hierarchical", "hierarchy": {"tree": TREE}},
        "note": {"role": "insensitive", "allow": {"telephone": "hotline", "email": "ours"}},
    },
    "deidentify": {"key_env": "KEY"},
    "record_key": "person",
    "anonymize": {"k": 5},
    "perturb": {"epsilon": 2, "republish": "sticky"},
    "suppress": {"confidence": 0.9},
    "gate": {
        "t_closeness": {"grade": 0.3},
        "l_diversity": {"grade": {"kind": "recursive", "l": 2, "c": 2.0}, "place": {"l": 2}},
        "linking_risk": 0.1,
        "cross_release_k": 3,
    },
    "publish": {"to": "out", "sign": {"key_env": "SIGN"}},
    "vault": {"retain": 3},
    "schedule": {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"},
    "dataset": "people",
    "budget": {"epsilon": 8, "window": 30},
    "responsible": {
        "owner": "Health office",
        "purpose": "planning",
        "legal_basis": "§ 12",
        "contact": "desk 3",
    },
    "reviewed": {"who": "Data office", "when": "2026-11-26", "digest": "0123456789abcdef"},
}
