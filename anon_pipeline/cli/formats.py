"""How `check` prints what it found, for people and for programs: JSON, JUnit, SARIF, GitHub's annotations.

All have the same verdicts, and only values that can be computed from the judged file. Belongs here:
one function for each format, and the table of them. Does not belong here: judging.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml  # writes alone

if TYPE_CHECKING:
    from anon_pipeline.gate import GateReport, Verdict


@dataclass(frozen=True, slots=True)
class Checked:
    """One released file, judged.

    name: of the file, or of its release's folder.
    policy: name of the policy.
    policy_file: where it is, as the command was given it.
    allowed: whether limits that could not be measured are let pass.
    """

    name: str
    policy: str
    policy_file: Path
    report: GateReport
    allowed: bool

    def fails(self, verdict: Verdict) -> bool:
        """Tell whether a verdict counts as refused."""
        from anon_pipeline.gate import Status  # noqa: PLC0415

        return verdict.status is Status.REFUSED or (verdict.status is Status.UNMEASURED and not self.allowed)

    @property
    def passed(self) -> bool:
        """Whether no verdict counts as refused."""
        return not any(map(self.fails, self.report.verdicts))


def as_json(found: Sequence[Checked]) -> str:
    """Return the verdicts as JSON, see `cli.documents`."""
    releases = [
        {"release": one.name, "policy": one.policy, "passed": one.passed, **_verdicts(one.report)}
        for one in found
    ]
    document = {"passed": all(one.passed for one in found), "releases": releases}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _verdicts(report: GateReport) -> dict[str, Any]:
    told = report.to_json()
    return {name: told[name] for name in ("policy_digest", "data_digest", "verdicts")}


def as_junit(found: Sequence[Checked]) -> str:
    """Return a suite for each file and a case for each limit: refused ones have failed.

    What could not be measured is an error, or skipped if that is allowed; warnings are printed by their case.
    """
    root = Xml.Element("testsuites", name="anon-pipeline check")
    for one in found:
        suite = Xml.SubElement(root, "testsuite", name=one.name)
        counted = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for verdict in one.report.verdicts:
            case = Xml.SubElement(suite, "testcase", classname=one.policy, name=verdict.limit)
            counted["tests"] += 1
            kind = _JUNIT[str(verdict.status)]
            if kind == "error" and one.allowed:
                kind = "skipped"
            if kind in ("failure", "error", "skipped"):
                Xml.SubElement(case, kind, message=_text(verdict))
                counted[{"failure": "failures", "error": "errors"}.get(kind, kind)] += 1
            elif kind:
                Xml.SubElement(case, kind).text = _text(verdict)
        suite.attrib |= {name: str(number) for name, number in counted.items()}
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode")


_JUNIT = {"passed": "", "warned": "system-out", "refused": "failure", "unmeasured": "error"}


def as_sarif(found: Sequence[Checked]) -> str:
    """Return a run of SARIF 2.1.0: a rule for each limit, a result for each verdict that did not pass."""
    from anon_pipeline.limits.table import limit_meaning  # noqa: PLC0415

    limits = list(dict.fromkeys(verdict.limit for one in found for verdict in one.report.verdicts))
    rules = [{"id": name, "shortDescription": {"text": limit_meaning(name)}} for name in limits]
    results = [
        {
            "ruleId": verdict.limit,
            "ruleIndex": limits.index(verdict.limit),
            "level": _level(one, verdict),
            "message": {"text": f"{one.name}: {_text(verdict)}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": one.policy_file.as_posix()},
                        "region": {"startLine": 1},
                    }
                }
            ],
        }
        for one in found
        for verdict in one.report.verdicts
        if str(verdict.status) != "passed"
    ]
    driver = {"name": "anon-pipeline", "version": version("anon-pipeline"), "rules": rules}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _text(verdict: Verdict) -> str:
    """Say a verdict in one line; the judged file is in the reader's hands."""
    from anon_pipeline.limits.table import verdict_text  # noqa: PLC0415

    return verdict_text(verdict, at_hand=True)


def _level(one: Checked, verdict: Verdict) -> str:
    """Return SARIF's level: what counts as refused is an error, a warning is one, what is allowed a note."""
    if one.fails(verdict):
        return "error"
    return "warning" if str(verdict.status) == "warned" else "note"


def as_github(found: Sequence[Checked]) -> str:
    """Return workflow commands of GitHub Actions, which annotate the policy; and a line for what passed."""
    lines = []
    for one in found:
        for verdict in one.report.verdicts:
            if str(verdict.status) == "passed":
                continue
            kind = {"note": "notice"}.get(_level(one, verdict), _level(one, verdict))
            place = f"file={_property(one.policy_file.as_posix())},title={_property(verdict.limit)}"
            lines.append(f"::{kind} {place}::{_message(f'{one.name}: {_text(verdict)}')}")
        lines.append(f"{_message(one.name)}: {'passed' if one.passed else 'refused'}")
    return "\n".join(lines)


def _message(text: str) -> str:
    """Escape a message as GitHub reads it; no text of it can then begin a command of its own."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace("::", ":%3A") if escaped.startswith("::") else escaped


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[Checked]], str]] = {
    "json": as_json,
    "junit": as_junit,
    "sarif": as_sarif,
    "github": as_github,
}
"""Formats for programs, by the name that ``--format`` takes; ``text`` is a table for people."""
