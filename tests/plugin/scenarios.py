"""What a process does that has the example plugin; each prints JSON. Run as ``scenarios.py NAME FOLDER``."""

from __future__ import annotations

import json
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ALL = {
    "name": "small",
    "source": {"zipped": {"file": "people.zip", "member": "today/people.jsonl"}, "format": "json_lines"},
    "columns": {
        "person": {"role": "identifier", "action": "drop"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20]}},
        "city": {"role": "generalize", "hierarchy": {"prefix": [3, 1]}},
        "height": {"role": "perturb", "resolution": 1},
        "illness": {"role": "sensitive", "distance": "equal"},
    },
    "anonymize": {"k": 3, "recoder": "lowest", "loss": "squared_levels", "suppression_limit": 0.1},
    "perturb": {"epsilon": 2, "mechanism": "triangle", "without_guarantee": True},
    "gate": {"k": 3, "largest_class": 0.5},
    "publish": {"to": "out", "format": "csv"},
}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "person": [f"person {i}" for i in range(240)],
            "age": rng.integers(20, 80, 240),
            "city": rng.choice(["Cork", "Corofin", "Dublin", "Dundalk"], 240),
            "height": rng.normal(170, 9, 240).round(),
            "illness": rng.choice(["asthma", "flu", "gout", "none"], 240),
        }
    )


def write(folder: Path, largest: float) -> Path:
    """Write a project: the source, and the policy with the plugin's limit at some bound."""
    lines = people().to_json(orient="records", lines=True)
    with zipfile.ZipFile(folder / "people.zip", "w") as archive:
        archive.writestr("today/people.jsonl", lines)
    policy = {**ALL, "gate": {**ALL["gate"], "largest_class": largest}}
    document = {"type": "anon_pipeline.AnonymizedRelease", "attributes": policy}
    (folder / "policy.yaml").write_text(json.dumps(document), encoding="utf-8")
    (folder / "pyproject.toml").touch()
    return folder / "policy.yaml"


def dagster(folder: Path) -> Any:
    """Run the release in Dagster, with a bound that holds, and with one that does not."""
    import dagster as dg

    from anon_pipeline.orchestration.component import build_release
    from anon_pipeline.policy import load_policy

    found = {}
    for name, largest in (("kept", 0.9), ("broken", 0.0001)):
        project = folder / name
        project.mkdir()
        policy = load_policy(write(project, largest))
        with dg.DagsterInstance.ephemeral() as instance:
            result = (
                build_release(policy, project)
                .resolve_job_def("small_release")
                .execute_in_process(instance=instance, raise_on_error=False)
            )
            checks = {one.check_name: one for one in result.get_asset_check_evaluations()}
            found[name] = {
                "success": result.success,
                "passed": {check: one.passed for check, one in checks.items()},
                "severity": checks["largest_class"].severity.value,
                "published": [
                    event.asset_key.path[-1]
                    for event in result.get_asset_materialization_events()
                    if event.asset_key is not None
                ].count("published"),
                "files": sorted(path.name for path in (project / "out").glob("*") if path.is_file()),
            }
    return found


def policy(folder: Path) -> Any:
    """Say what policy, JSON Schema and public report make of the keys of the plugin."""
    from anon_pipeline.policy import json_schema, load_policy
    from anon_pipeline.policy.walks import binding_fields, public_fields
    from anon_pipeline.utility.measures import MEASURES

    made = load_policy(write(folder, 0.5))
    defined = json_schema()["$defs"]
    gate = defined["Gate"]["properties"]
    without = made.model_copy(update={"gate": type(made.gate)(k=3)})
    return {
        "schema": "largest_class" in gate,
        "recoder": defined["Anonymize"]["properties"]["recoder"],
        "public": public_fields(made)["gate"],
        "binds": "largest_class" in json.dumps(binding_fields(made)),
        "measures": list(MEASURES),
        "document": without.model_dump(mode="json")["gate"],
        "digest": without.digest,
    }


def source(folder: Path) -> Any:
    """Say what the policy makes of a kind of source: its marks, its schema, policies without it."""
    from anon_pipeline.base.errors import AnonPipelineError
    from anon_pipeline.policy import Policy, json_schema, load_policy, policy_from
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.policy.public import public_document
    from anon_pipeline.policy.walks import binding_fields
    from anon_pipeline.sources import read_source

    made, out = load_policy(write(folder, 0.5)), {"file": "../people.zip", "member": "../x"}
    folders = Locations(folder, folder, folder, folder)
    folders.confine(made)
    said = []
    for wrong in ({**ALL["source"], "zipped": out}, {"zipped": {"member": "canary"}}, {"zipped": ["canary"]}):
        try:
            folders.confine(policy_from({**ALL, "source": wrong}))
        except AnonPipelineError as error:
            said.append(str(error))
    other = policy_from({**ALL, "source": {"path": "people.jsonl", "format": "json_lines"}})
    partitioned = {"zipped": {"file": "people.zip", "member": "{partition}/people.jsonl"}}
    parts = {"schedule": {"cron": "0 3 * * 1", "partitions": "daily"}}
    daily = policy_from({**ALL, "source": {**ALL["source"], **partitioned}, **parts})
    read: list[Any] = [len(read_source(daily, folder=folder, partition="today"))]
    try:
        read_source(daily, folder=folder)
    except AnonPipelineError as error:
        read.append(str(error))
    definitions = json_schema()["$defs"]
    return {
        "public": json.dumps(public_document(made)),
        "binds": binding_fields(made)["source"]["zipped"],
        "said": said,
        "without": sorted(other.model_dump(mode="json")["source"]),
        "schema": [definitions["Source"]["properties"]["zipped"], definitions["Source"]["description"]],
        "partition": daily.source.named_partitions(),
        "read": read,
        "copied": Policy.model_validate(made.model_dump(mode="json")) == made,
    }


def optimum(folder: Path) -> Any:
    """Minimize the plugin's loss by the exact search, and by looking at every node of the lattice."""
    from anon_pipeline.hierarchy.hierarchy import Hierarchy
    from anon_pipeline.recode import Constraints, Task, by_record, recode

    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        lookups = (np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, np.int64))
        values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
        hierarchies = tuple(Hierarchy(f"c{column}", lookups, values) for column in range(3))
        codes = rng.integers(0, 8, (200, 3))
        records = by_record(codes, hierarchies)
        task = Task(hierarchies, Constraints(4, 10), "optimal", "squared_levels", by_record=records)
        least = Fraction(1)
        for levels in np.ndindex(4, 4, 4):
            general = np.stack([lookups[level][own] for level, own in zip(levels, codes.T, strict=True)], 1)
            _, place, sizes = np.unique(general, axis=0, return_inverse=True, return_counts=True)
            kept = int((sizes[place.reshape(-1)] >= 4).sum())
            if 200 - kept <= 10:
                cells = sum(Fraction(level**2, 9) for level in levels)
                least = min(least, (kept * cells / 3 + (200 - kept)) / 200)
        found.append([recode(task).loss, float(least)])
    return found


def noise(folder: Path) -> Any:
    """Draw noise by the plugin's mechanism, and compare it with its law and with sums over the law."""
    from scipy.stats import chisquare

    from anon_pipeline.perturb.entropy import seeded_entropy
    from anon_pipeline.perturb.mechanisms import Noise, cdf, draw, excess, mean_absolute, parameters, pmf
    from anon_pipeline.perturb.mechanisms import variance as variance_of

    own, z = Noise("triangle", Fraction(2)), np.arange(-20, 21)
    wanted = np.full(20_000, 3)
    drawn = draw(own, parameters(own, wanted), entropy=seeded_entropy(1))
    law = pmf(own, z, 3)
    seen = law > 0
    counts = np.array([(drawn == value).sum() for value in z])
    return {
        "fit": float(chisquare(counts[seen], law[seen] / law[seen].sum() * len(drawn)).pvalue),
        "outside": int(counts[~seen].sum()),
        "sums": [
            [float(law.sum()), 1.0],
            [float((law * np.abs(z)).sum()), float(mean_absolute(own, 3))],
            [float((law * z**2).sum()), float(variance_of(own, 3))],
            [float(law[z <= -2].sum()), float(cdf(own, -2, 3))],
            [float(law[z <= 1].sum()), float(cdf(own, 1, 3))],
            [float((law * np.maximum(z - 2, 0)).sum()), float(excess(own, 2, 3))],
        ],
    }


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
