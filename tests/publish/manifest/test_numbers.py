"""Public and operator see only numbers that are declared for them; SECURITY.md has the table."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.audience import FILE, POLICY, Audience, Number
from anon_pipeline.gate import evaluate
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.manifest.numbers import MANIFEST, METADATA, all_numbers
from anon_pipeline.publish.whole_chain import make_release
from anon_pipeline.stages.facts.audience import fact_numbers
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means

SECURITY = Path(__file__).resolve().parents[3] / "SECURITY.md"
BEGIN, END = "<!-- numbers: begin -->\n", "<!-- numbers: end -->\n"


def table() -> str:
    """Return the table of all numbers as Markdown, rows that are alike as one."""
    rows: dict[tuple[str, Number], list[str]] = {}
    for place, name, number in all_numbers():
        named = name if place == "elsewhere" else f"`{name}`"
        rows.setdefault((place if place != "elsewhere" else name, number), []).append(named)
    lines = ["| where | number | computed from | who sees it | why, if the public or the operator do |"]
    lines.append("|---|---|---|---|---|")
    for (place, number), names in rows.items():
        of = ", ".join(number.of)
        where = "elsewhere" if names == [place] else place
        lines.append(f"| {where} | {', '.join(names)} | {of} | {number.to} | {number.because} |")
    return "\n".join(lines) + "\n"


def test_the_table_stands_in_security_md() -> None:
    """Written by ``python -m tests.publish.manifest.test_numbers``."""
    text = SECURITY.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == table()


def test_a_value_is_published_if_and_only_if_the_file_tells_it() -> None:
    for limit in LIMITS:
        seen = (*limit.judged.needs, *limit.judged.regards)
        alone = seen == () and limit.judged.over_noise is None
        assert limit.recomputable == (alone or limit.published.missing), limit.name
        assert (limit.number == FILE) == (alone and not limit.published.missing), limit.name


def test_what_looks_at_the_ledger_is_declared_to_be_computed_from_it(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    """What the ledger has changes what these two limits say, and nothing else."""
    policy = small_policy()
    chain = run(policy, small_people(), Means(tmp_path, None, seeded_entropy(0)))
    table, facts = chain.suppressed.frame, chain.suppressed.facts
    report, others = (
        evaluate(table, policy, facts, originals=chain.k_anonymized.frame, in_ledger=in_ledger)
        for in_ledger in (NOTHING_IN_LEDGER, InLedger(True, Fraction(100), frozenset({"other"})))
    )
    pairs = zip(report.verdicts, others.verdicts, strict=True)
    changed = {one.limit for one, other in pairs if one != other}
    assert changed == {"repeated_noise", "earlier_release"}
    assert limit_of("earlier_release").number.of == ("originals", "history")
    assert limit_of("repeated_noise").number.of == ("history",)
    assert METADATA["reason"].of == ("policy", "released file", "originals", "history")


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, (dict, list)) and value:
        for step, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(below, f"{at}.{step}" if at else str(step))
    else:
        yield at, value


GATE = {
    "t_closeness": {"illness": 0.95},
    "l_diversity": {"illness": {"l": 2}},
    "linking_risk": 1.0,
    "confidence_k": 2,
    "attacks": {
        "skewness": {"illness": 50.0},
        "similarity": {"income": 0.001},
        "expected_linking_risk": 1.0,
        "averaging": {"releases": 5, "risk": 1.0},
        "assignment_risk": 1.0,
        "prosecutor_risk": 1.0,
        "linkage": {"exact": 1.0},
        "known_columns": [{"columns": ["note"], "risk": 1.0}],
    },
}


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text that have digits enough to be recognized."""
    return {one for one in re.findall(r"\d+\.\d+", text) if len(one.partition(".")[2].rstrip("0")) >= 3}


def curators(measured: dict[str, Any], document: dict[str, Any]) -> dict[str, str]:
    """Return the numbers that only the curator sees, as they would be written, by their names."""
    found = {}
    kinds = {limit.name: limit for limit in LIMITS}
    for verdict in measured["gate"]["verdicts"]:
        for name in ("value", "realized"):
            value = verdict[name]
            if value is not None and not kinds[verdict["limit"].partition(".")[0]].recomputable:
                found[f"{verdict['limit']}.{name}"] = f"{value:.6g}"
    declared = dict(fact_numbers())
    for path, value in leaves(measured["facts"], "facts"):
        number = declared.get(path) or declared.get(re.sub(r"^(facts\.\w+\.\w+)\.(\w+)\.", r"\1.*.", path))
        if isinstance(value, float) and (number is None or number.to is Audience.CURATOR):
            found[path] = f"{value:.6g}"
    shown = {f"{value:.6g}" for _, value in leaves(document) if isinstance(value, float)}
    return {name: text for name, text in found.items() if text not in shown}


def manifest_number(path: str, limits: Mapping[str, str]) -> Number:
    """Return the declaration of a leaf of a manifest, by its path and the limits' names by their places."""
    steps = path.split(".")
    if path.startswith("gate.verdicts.") and steps[-1] == "value":
        kind = limits[steps[2]].partition(".")[0]
        return next(
            limit.number if limit.published.valued else POLICY for limit in LIMITS if limit.name == kind
        )
    if steps[0] == "facts":
        return _fact(steps)
    for pattern, number in MANIFEST.items():
        if len(pattern.split(".")) == len(steps) and fnmatchcase(path, pattern):
            return number
    raise KeyError(path)


def _fact(steps: list[str]) -> Number:
    """Return the declaration of a fact: of its field, or of the part of it that the last keys name."""
    field = ".".join(steps[:3])
    for name, number in fact_numbers():
        parts = name.split(".")
        if ".".join(parts[:3]) == field and (len(parts) == 3 or len(steps) == 3 or parts[-1] == steps[-1]):
            return number
    raise KeyError(".".join(steps))


def test_a_run_shows_no_number_that_is_the_curators(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    """Two releases: a number of few digits may equal another one by chance, but not in both."""
    policy = small_policy(anonymize={"loss": "entropy"}, gate=GATE)
    shown = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        small_people(n=300).to_csv(folder / "people.csv", index=False)
        shown.append(shown_of_the_curators(policy, folder))
    assert not shown[0] & shown[1]


def shown_of_the_curators(policy: Policy, tmp_path: Path) -> set[str]:
    """Make a release; return the names of the curator's numbers that its public files show."""
    written = make_release(policy, Locations.of(tmp_path, {}))
    document = json.loads(written.manifest_path.read_text())
    limits = {str(i): verdict["limit"] for i, verdict in enumerate(document["gate"]["verdicts"])}
    for path, value in leaves(document):
        number = manifest_number(path, limits)
        assert value is None or number.to is Audience.PUBLIC, path
    measured = json.loads((tmp_path / "vault" / "small" / "gate.json").read_text())
    private = curators(measured, document)
    assert {"t_closeness.illness.value", "facts.k_anonymized.information_loss"} <= set(private)
    assert any(name.endswith("realized") for name in private)
    texts = [written.manifest_path.read_text(), written.report_path.read_text()]
    return {
        name
        for name, value in private.items()
        if any(value in numbers_in(text) or f" {value} " in text for text in texts)
    }


def test_metadata_keys_are_declared_for_the_operator() -> None:
    assert all(Audience.OPERATOR.sees(number) for number in METADATA.values())
    assert METADATA["value"] == FILE
    assert METADATA["limit"] == POLICY


if __name__ == "__main__":
    text = SECURITY.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    SECURITY.write_text(head + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")
    sys.stdout.write(table())
