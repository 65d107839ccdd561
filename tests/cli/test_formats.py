"""What `check` prints for programs: the shapes that JUnit, SARIF and GitHub read, and the same verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import validate

from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.formats import FORMATS, Checked, as_github, as_junit, as_sarif
from anon_pipeline.gate import GateReport, Status, Verdict
from tests.cli.projects import Done, Folder, People

VERDICTS = (
    Verdict("k", Status.PASSED, 5.0, 3.0, "at least", recomputable=True),
    Verdict("contract", Status.REFUSED, reason='a <b> & "c": 100%,\nnext ::error::'),
    Verdict("linking_risk", Status.UNMEASURED, None, 0.1, "at most", "needs the originals"),
    Verdict("single_value", Status.WARNED, 1.0, 0.0, "at most", recomputable=True),
)
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "rules"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "items": {
                                            "required": ["id", "shortDescription"],
                                            "properties": {"shortDescription": {"required": ["text"]}},
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                            "properties": {
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {"required": ["uri"]},
                                                    "region": {
                                                        "required": ["startLine"],
                                                        "properties": {"startLine": {"minimum": 1}},
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""Of the schema of SARIF 2.1.0 what is used here, by hand: required properties, and levels."""


def checked(*, allowed: bool, verdicts: Sequence[Verdict] = VERDICTS, name: str = "a.csv") -> Checked:
    return Checked(name, "small", Path("ci/policy.yaml"), GateReport(tuple(verdicts), "d", "p"), allowed)


def sound_junit(text: str) -> Xml.Element:
    """Return the document, if it has the shape that readers of JUnit agree on.

    Source: the schema of JUnit's Ant task, and what Jenkins, GitLab and GitHub's reporters read.
    """
    root = Xml.fromstring(text)
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite" and suite.get("name")
        kinds = {"failures": "failure", "errors": "error", "skipped": "skipped", "tests": "."}
        for attribute, tag in kinds.items():
            cases = list(suite) if tag == "." else [case for case in suite if case.find(tag) is not None]
            assert suite.get(attribute) == str(len(cases))
        for case in suite:
            assert case.tag == "testcase" and case.get("name") and case.get("classname")
            assert [below.tag for below in case] in ([], ["failure"], ["error"], ["skipped"], ["system-out"])
            assert all(below.get("message") for below in case if below.tag != "system-out")
    for attribute in ("tests", "failures", "errors"):
        assert root.get(attribute) == str(sum(int(suite.get(attribute, "")) for suite in root))
    return root


@pytest.mark.parametrize("allowed", [True, False])
def test_junit(allowed: bool) -> None:
    root = sound_junit(as_junit([checked(allowed=allowed), checked(allowed=allowed, name="b.csv")]))
    kinds = {case.get("name"): [below.tag for below in case] for case in root[0]}
    unmeasured = "skipped" if allowed else "error"
    assert kinds == {
        "k": [],
        "contract": ["failure"],
        "linking_risk": [unmeasured],
        "single_value": ["system-out"],
    }
    message = root[0][1][0].get("message")
    assert message is not None and 'a <b> & "c"' in message


@pytest.mark.parametrize("allowed", [True, False])
def test_sarif(allowed: bool) -> None:
    document = json.loads(as_sarif([checked(allowed=allowed), checked(allowed=allowed, name="b.csv")]))
    validate(document, SARIF)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [verdict.limit for verdict in VERDICTS]
    levels = [(result["ruleId"], result["level"]) for result in run["results"]]
    unmeasured = "note" if allowed else "error"
    assert levels == 2 * [("contract", "error"), ("linking_risk", unmeasured), ("single_value", "warning")]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


@pytest.mark.parametrize("allowed", [True, False])
def test_github(allowed: bool) -> None:
    lines = as_github([checked(allowed=allowed)]).splitlines()
    unmeasured = "notice" if allowed else "error"
    assert [line.split(" ")[0] for line in lines[:-1]] == ["::error", f"::{unmeasured}", "::warning"]
    assert all("file=ci/policy.yaml,title=" in line for line in lines[:-1])
    assert "100%25,%0Anext" in lines[0]
    assert lines[-1] == "a.csv: refused"
    assert (
        not as_github([checked(allowed=True, name="::set-env name=x::y")]).splitlines()[-1].startswith("::")
    )


@pytest.mark.parametrize("form", ["junit", "sarif", "github"])
def test_a_bound_that_every_value_keeps_is_no_limit(form: str) -> None:
    free = Verdict("known_columns.job", Status.UNMEASURED, None, 1.0, "at most", "needs the originals")
    said = FORMATS[form]([checked(allowed=False, verdicts=[free])])
    assert "known_columns.job (no limit) unmeasured" in said
    assert "at most 1" not in said


@pytest.mark.parametrize("form", FORMATS)
def test_values_of_the_originals_are_in_no_format(form: str) -> None:
    secret = Verdict("suppression", Status.REFUSED, 0.123456, 0.1, "at most")
    assert "0.1234" not in FORMATS[form]([checked(allowed=False, verdicts=[secret])])


@pytest.fixture
def released(folder: Callable[..., Folder]) -> Folder:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    return made


def check(made: Folder, what: str, *options: str) -> Done:
    return made.call("check", what, "--policy", "policy.yaml", "--allow-unmeasured", *options)


def test_every_format_of_a_release(released: Folder) -> None:
    document = json.loads(check(released, "out", "--format", "json").out)
    validate(document, schema_of("check"))
    assert document == json.loads(check(released, "out", "--json").out)
    assert [one["release"] for one in document["releases"]] == ["out"] and document["passed"]
    limits = [verdict["limit"] for verdict in document["releases"][0]["verdicts"]]
    root = sound_junit(check(released, "out", "--format", "junit").out)
    assert [case.get("name") for case in root[0]] == limits
    validate(json.loads(check(released, "out", "--format", "sarif").out), SARIF)
    assert check(released, "out", "--format", "github").out.splitlines()[-1] == "out: passed"


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_formats_do_not_change_the_exit_code(released: Folder, small_people: People, form: str) -> None:
    small_people().drop(columns="person").astype({"age": str}).to_parquet(released.path / "raw.parquet")
    assert check(released, "out", "--format", form).code == 0
    assert released.call("check", "out", "--policy", "policy.yaml", "--format", form).code == 1
    assert check(released, "raw.parquet", "--format", form).code == 1


def test_a_folder_a_manifest_and_partitions(released: Folder) -> None:
    assert check(released, "out/manifest.json").out == check(released, "out").out
    (released.path / "all").mkdir()
    (released.path / "out").rename(released.path / "all" / "2026-01")
    done = check(released, "all", "--format", "json")
    assert [one["release"] for one in json.loads(done.out)["releases"]] == ["all/2026-01"]


def test_a_file_that_is_not_the_one_of_its_manifest(released: Folder) -> None:
    (data,) = (released.path / "out").glob("*.parquet")
    data.write_bytes(data.read_bytes()[:-1] + b"x")
    done = check(released, "out")
    assert (done.code, "SHA-256 is another" in done.err) == (2, True)
    data.unlink()
    assert check(released, "out").code == 2


def test_a_folder_without_a_release(released: Folder) -> None:
    (released.path / "empty").mkdir()
    done = check(released, "empty")
    assert (done.code, done.out) == (2, "")
    assert "must hold a release with its manifest" in done.err
