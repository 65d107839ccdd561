"""All methods side by side at equal risk: ``python -m benchmarks.methods [--records 20000] [--map FOLDER]``.

Belongs here: the tables of docs/comparing.md, for Adult and for generated patients. Does not belong here: the
comparison itself, which is that of ``anon-pipeline compare`` (`anon_pipeline.tuning.outcomes`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from anon_pipeline import Policy
from anon_pipeline.policy import load_policy, policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.sources.patients import patients
from anon_pipeline.tuning.comparison_rows import rows
from anon_pipeline.tuning.outcomes import Measured, measure_variants
from anon_pipeline.tuning.variant_map import variant_map
from anon_pipeline.tuning.variants import variants_of
from benchmarks.adult import adult_folder, adult_policy, paper_table
from benchmarks.scale import POLICY

VARIANTS: Final = (
    "recoder=all",
    "mechanism=staircase",
    "recoder=optimal,anonymize.suppress=cells",
    "recoder=mondrian,mechanism=staircase",
    "recoder=mondrian,confidence=none",
)
"""Variants of both tables, besides those of `MASKING`."""
MASKING: Final = (
    *("mechanism=rank_swapping", "mechanism=class_swapping", "mechanism=data_shuffling"),
    *("mechanism=rounding", "mechanism=multiplicative_noise", "mechanism=correlated_noise"),
    *("mechanism=individual_ranking", "mechanism=resampling", "mechanism=class_synthesis"),
)
"""Mechanisms that change columns as a whole, at equal risk: their amounts are chosen."""
_BOTH: Final = "columns.height_cm.amount={0},columns.weight_kg.amount={0}"
WHOLE_COLUMNS: Final = (
    *(
        f"mechanism={kind}," + _BOTH.format(amount)
        for kind, amount in (
            *(("rank_swapping", 0.01), ("rank_swapping", 0.1), ("rank_swapping", 0.3)),
            *(
                ("individual_ranking", 10),
                ("rounding", 10),
                ("multiplicative_noise", 0.1),
                ("correlated_noise", 0.2),
            ),
            *(("resampling", 3), ("class_swapping", "none"), ("data_shuffling", "none")),
            *(("synthesis", "none"), ("class_synthesis", "none")),
        )
    ),
)
"""Mechanisms that change whole columns, on the generated patients, not at equal risk."""
_SHOWN: Final = (
    *("variant", "k", "epsilon", "amount", "loss", "granularity", "noise", "released", "classes"),
    *("correlations", "propensity", "queries", "classifier", "gate"),
)
_OF_WHOLE: Final = ("variant", "linking", "noise", "correlations", "queries", "classifier", "gate")


def adult() -> tuple[Policy, pd.DataFrame]:
    """Return the paper's policy with limits on the gate, and its table.

    Raises:
        SystemExit: Adult is not on this machine.
    """
    policy = adult_policy(10, 2, "ola", loss="granularity")
    limits = {"t_closeness": {"salary-class": 0.5}, "linking_risk": 0.05, "suppression": 0.1}
    return policy_from(policy.model_dump() | {"gate": limits}), paper_table(adult_folder())


def generated(records: int) -> tuple[Policy, pd.DataFrame]:
    """Return the demo's policy and patients, who are read from a file here."""
    policy = load_policy(POLICY).model_copy(update={"one_record_per_person": True})
    return policy, patients(records, seed=0)


def measured(
    policy: Policy, frame: pd.DataFrame, *, settings: Sequence[str] = VARIANTS, equal_risk: bool = True
) -> tuple[Policy, list[Measured]]:
    """Compare all variants of a policy on a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.to_parquet(folder / "table.parquet")
        attributes: dict[str, Any] = policy.model_dump()
        attributes["source"] = {"path": "table.parquet", "format": "parquet"}
        own = policy_from(attributes)
        variants = variants_of(own, settings, equal=equal_risk)
        found = measure_variants(variants, Locations(*(folder,) * 4), equal="risk" if equal_risk else None)
        return own, list(_told(found, len(variants)))


def _told(found: Iterator[Measured], many: int) -> Iterator[Measured]:
    """Say on the terminal how far it is."""
    for place, one in enumerate(found, 1):
        print(f"{place} of {many}: {one.name}", file=sys.stderr)
        yield one


def table(found: Sequence[Measured], shown: Sequence[str] = _SHOWN) -> str:
    """Write the variants as a table in Markdown, the least loss first; those without a release below it."""
    made = sorted(
        (one for one in found if one.outcome), key=lambda one: one.outcome.loss if one.outcome else 1
    )
    lines = ["| " + " | ".join(shown) + " |", "|---" * len(shown) + "|"]
    lines += ["| " + " | ".join(row[name] for name in shown) + " |" for row in rows(made)]
    return "\n".join([*lines, "", *(f"* {one.name}: {one.problem}" for one in found if not one.outcome)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.methods", description=__doc__)
    parser.add_argument("--records", type=int, default=20_000, help="generated patients")
    parser.add_argument("--map", type=Path, help="folder for the maps, adult.svg and patients.svg")
    options = parser.parse_args(arguments)
    for name, (policy, frame) in (
        ("adult", adult()),
        ("patients", generated(options.records)),
    ):
        own, found = measured(policy, frame, settings=[*VARIANTS, *MASKING])
        print(f"\n{name}, {len(frame):,} records\n\n{table(found)}")
        if options.map is not None:
            (options.map / f"{name}.svg").write_text(variant_map(found, own), encoding="utf-8")
    policy, frame = generated(options.records)
    _, found = measured(policy, frame, settings=WHOLE_COLUMNS, equal_risk=False)
    print(f"\npatients, columns changed as a whole, not at equal risk\n\n{table(found, _OF_WHOLE)}")


if __name__ == "__main__":
    main()
