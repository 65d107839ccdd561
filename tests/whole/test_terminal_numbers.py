"""What the terminal prints has no number that is the curator's, in whatever form it would be written.

Searched are exact values, realized ones and facts, as the vault has them, in all that `run` (passed with
warnings, refused), `check`, `verify`, `bundle`, `ledger list`, `diff` and `check-policy` print. `tune`,
`utility`, `init`, `profile` and `--show-values` are for the curator, as SECURITY.md says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.audience import Audience
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.policy import Policy
from anon_pipeline.stages.facts.audience import fact_numbers
from tests.cli.projects import Folder
from tests.publish.manifest.test_numbers import GATE, leaves

People = Callable[..., pd.DataFrame]
Make = Callable[..., Folder]

FORMATS = (".3g", ".4g", ".5g", ".6g", ".3f", ".4f", ".6f")
COUNTS = 20
"""Whole numbers below are in every text."""
FORMS = ("text", "json", "junit", "sarif", "github")
GATES: dict[str, dict[str, Any]] = {
    "passed": GATE,
    "refused": GATE | {"linking_risk": 0.0001},
}


def forms(value: float) -> set[str]:
    """Return a number as it could be written, as a share and in percent, with three digits or more.

    >>> sorted(forms(0.25974026))
    ['0.2597', '0.25974', '0.259740', '0.260', '25.97', '25.974', '25.9740', '25.974026', '26.0']
    """
    if isinstance(value, int):
        return {str(value), f"{value:,}"} if value >= COUNTS else set()
    written = {format(value * times, form) for times in (1, 100) for form in FORMATS}
    written |= {f"{100 * value:.1f}", f"{100 * value:.2f}"}
    return {one for one in written if "e" not in one and len(_significant(one)) >= 3}


def _significant(text: str) -> str:
    return text.replace(".", "").lstrip("0")


def hidden(measured: dict[str, Any], *, passed: bool) -> Iterator[tuple[str, float]]:
    """Yield what only the curator sees: of a release that was refused, every value."""
    told = {limit.name for limit in LIMITS if passed and limit.recomputable}
    for verdict in measured["gate"]["verdicts"]:
        for name in ("value", "realized"):
            if verdict[name] is not None and verdict["limit"].partition(".")[0] not in told:
                yield f"{verdict['limit']}.{name}", verdict[name]
    declared = dict(fact_numbers())
    for path, value in leaves(measured["facts"], "facts"):
        number = declared.get(path) or declared.get(re.sub(r"^(facts\.\w+\.\w+)\.(\w+)\.", r"\1.*.", path))
        curators = number is None or number.to is Audience.CURATOR
        if curators and isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, value


def public(made: Folder, measured: dict[str, Any]) -> set[float]:
    """Return the numbers that the policy, the manifest and the count of records tell anyhow."""
    documents = [verdict["bound"] for verdict in measured["gate"]["verdicts"]]
    if (path := made.path / "out" / "manifest.json").exists():
        documents.append(json.loads(path.read_text(encoding="utf-8")))
    numbers = {value for one in documents for _, value in leaves(one) if isinstance(value, (int, float))}
    return numbers | {1 - value for value in numbers}  # the share that is released, and the one that is not


def commands(number: int, outcome: str, form: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield commands about one release; the first one makes it."""
    yield "run", "policy.yaml", *form
    if outcome == "passed":
        judged = ("check", "out", "--policy", "policy.yaml", "--allow-unmeasured", "--format")
        yield from ((*judged, one) for one in FORMS if not form)
        yield from (("verify", "out", *policy, *form) for policy in ((), ("--policy", "policy.yaml")))
        to = f"bundle{number}{len(form)}.zip"
        yield "bundle", "out", "--policy", "policy.yaml", "--to", to, *form
    yield "ledger", "list", *form
    yield "diff", "policy.yaml", "other.yaml", *form
    yield "check-policy", "policy.yaml"


def printed(made: Folder, number: int, outcome: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what each command prints, with what the vault has of the release that it is about."""
    kept = made.path / "vault" / "small" / "gate.json"
    for form in ((), ("--json",)):
        for arguments in commands(number, outcome, form):
            text = _printed(made, *arguments)
            yield text, json.loads(kept.read_text(encoding="utf-8"))


def _printed(made: Folder, *arguments: str) -> str:
    done = made.call(*arguments)
    assert done.code in (0, 1), done.err
    assert done.out or done.err
    return done.out + done.err


def shown(made: Folder, number: int, outcome: str) -> Iterator[set[str]]:
    """Yield the names of the curator's numbers that the terminal shows, in any form, after each command."""
    for text, measured in printed(made, number, outcome):
        assert measured["gate"]["passed"] is (outcome == "passed")
        numbers = set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text))
        known, private = public(made, measured), dict(hidden(measured, passed=outcome == "passed"))
        assert {"t_closeness.illness.value", "linking_risk.realized"} <= private.keys()
        assert {"facts.k_anonymized.information_loss", "facts.shuffled.records"} <= private.keys()
        searched = {name: value for name, value in private.items() if value not in known}
        assert len(searched) >= 20
        yield {name for name, value in searched.items() if numbers & forms(value)}


def shown_twice(folder: Make, people: People, outcome: str, *, until: str | None = None) -> set[str]:
    """Search two releases: a number of few digits may equal another one by chance, but not in both.

    Args:
        until: the name after which the search of a release may end; None: search all.
    """
    found: list[set[str]] = []
    for seed in (0, 1):
        made = folder(people(n=300 + 17 * seed, seed=seed), gate=GATES[outcome])
        other = (made.path / "policy.yaml").read_text(encoding="utf-8").replace("epsilon: 2", "epsilon: 4")
        (made.path / "other.yaml").write_text(other, encoding="utf-8")
        found.append(set())
        for names in shown(made, seed, outcome):
            found[-1] |= names
            if until in names:
                break
    return found[0] & found[1]


@pytest.mark.parametrize("outcome", GATES)
def test_the_terminal_shows_no_number_that_is_the_curators(
    folder: Make, small_people: People, outcome: str
) -> None:
    assert shown_twice(folder, small_people, outcome) == set()


@pytest.mark.parametrize("outcome", GATES)
@pytest.mark.parametrize("form", ["{:.3g}", "{:.4f}", "{:.1%}"])
def test_the_search_finds_a_number_that_is_planted(
    folder: Make, small_people: People, monkeypatch: pytest.MonkeyPatch, outcome: str, form: str
) -> None:
    def planted(verdict: Verdict, policy: Policy | None = None) -> str:
        return form.format(verdict.value or 0.0)

    monkeypatch.setattr("anon_pipeline.limits.table.demanded_by", planted)
    planted_name = "linking_risk.value"
    assert planted_name in shown_twice(folder, small_people, outcome, until=planted_name)
