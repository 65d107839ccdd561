"""What docs/dagster.md shows is true: its code runs, its policy loads, its alert tells no value."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster.components.testing import create_defs_folder_sandbox

from anon_pipeline import AnonymizedRelease
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.templates import template
from anon_pipeline.stages.private import STAGES
from tests.projects import project  # noqa: F401 - a fixture

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "dagster.md").read_text(encoding="utf-8")
Make = Callable[..., Any]


def block(language: str, having: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    (text,) = [text for text in found if having in text]
    return str(text)


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "docs/dagster.md", "exec"), names)
    return names


def test_its_file_lets_everything_run_in_one_process() -> None:
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(component_cls=AnonymizedRelease, defs_yaml_contents={})
        (path / "defs.yaml").write_text(template("visitors"))
        (path.parent / "one_process.py").write_text(block("python", "in_process_executor"))
        with sandbox.build_all_defs() as definitions:
            repository = definitions.get_repository_def()
            assert repository.get_implicit_global_asset_job_def().executor_def is dg.in_process_executor
            assert dg.AssetKey(["visitors", "published"]) in definitions.resolve_all_asset_keys()


def test_its_conditions_and_owners_are_read_by_dagster_and_the_command_line() -> None:
    text = template("visitors") + block("yaml", "post_processing")
    assert parse_policy(text).name == "visitors"
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(component_cls=AnonymizedRelease, defs_yaml_contents={})
        (path / "defs.yaml").write_text(text)
        with sandbox.load_component_and_build_defs(defs_path=path) as (_, definitions):
            specs = definitions.resolve_all_asset_specs()
            assert len(specs) == 7
            assert all(spec.automation_condition is not None for spec in specs)
            assert all(list(spec.owners) == ["team:privacy"] for spec in specs)


def test_its_session_of_spark_is_the_resource_of_raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_URL", "sc://localhost")
    text = block("python", "spark_session")
    policy = template("visitors").replace("generate: patients", "spark: {table: main.shop.visitors}")
    (tmp_path / "policy.yaml").write_text(policy)
    names: dict[str, Any] = {"__file__": str(tmp_path / "defs.py")}
    exec(compile(text, "docs/dagster.md", "exec"), names)
    definitions = names["defs"]
    raw = definitions.resolve_assets_def(dg.AssetKey(["visitors", "raw"]))
    assert "anon_spark" in raw.required_resource_keys
    assert definitions.resources["anon_spark"] is names["cluster"]


def test_its_release_on_another_machine_is_one_asset_with_the_checks_of_the_gate(tmp_path: Path) -> None:
    text = block("python", "elsewhere=Elsewhere([")
    (tmp_path / "policy.yaml").write_text(template("visitors"))
    names: dict[str, Any] = {"__file__": str(tmp_path / "defs.py")}
    exec(compile(text, "docs/dagster.md", "exec"), names)
    definitions = names["defs"]
    key = dg.AssetKey(["visitors", "published"])
    assert [spec.key for spec in definitions.resolve_all_asset_specs()] == [key]
    checks = definitions.resolve_assets_def(key).check_specs
    assert all(spec.blocking for spec in checks)
    assert {"k", "great_expectations"} <= {spec.name for spec in checks}
    assert isinstance(definitions.resources["anon_pipes"], dg.PipesSubprocessClient)
    assert definitions.resolve_job_def("visitors_release").name == "visitors_release"


def test_a_condition_publishes_nothing_that_the_gate_refuses(project: Make) -> None:  # noqa: F811
    """`published` is asked for as soon as its tables are there, and what comes after it is not."""
    made = project(gate={"linking_risk": 0.0})

    @dg.asset(deps=[dg.AssetKey(["small", "published"])], automation_condition=dg.AutomationCondition.eager())
    def after() -> None: ...

    eager = made.definitions.map_resolved_asset_specs(
        func=lambda spec: spec.replace_attributes(automation_condition=dg.AutomationCondition.eager())
    )
    definitions = dg.Definitions.merge(eager, dg.Definitions(assets=[after]))
    before = dg.evaluate_automation_conditions(defs=definitions, instance=made.instance)
    assert made.materialize(*STAGES).success
    asked = dg.evaluate_automation_conditions(defs=definitions, instance=made.instance, cursor=before.cursor)
    assert asked.get_num_requested(dg.AssetKey(["small", "published"])) == 1
    assert not made.materialize("published").success
    later = dg.evaluate_automation_conditions(defs=definitions, instance=made.instance, cursor=asked.cursor)
    assert later.get_num_requested(dg.AssetKey("after")) == 0
    assert made.released() == []


@pytest.mark.parametrize("bound", [1.0, 0.0])
def test_its_function_makes_a_release_in_process(
    project: Make,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    bound: float,
) -> None:
    made = project(gate={"linking_risk": bound})
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    passed = run(block("python", "execute_in_process"))["make_release"](made.definitions, "small")
    assert (passed, bool(made.released())) == (bound == 1, bound == 1)
    assert ("small/published: " in capsys.readouterr().out) == (bound == 0)


@pytest.fixture
def told() -> Iterator[tuple[str, list[Any]]]:
    """A server that keeps what it is sent, and its address."""
    kept: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", kept
    server.shutdown()


def test_its_alert_says_which_limit_refused_and_no_value(
    project: Make,  # noqa: F811
    told: tuple[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, kept = told
    monkeypatch.setenv("CHAT_WEBHOOK", address)
    made = project(gate={"linking_risk": 0.0})
    result = made.run("small_release")
    (event,) = (event for event in result.all_events if event.is_failure and not event.is_step_event)
    context = dg.build_run_status_sensor_context(
        sensor_name="tell_chat",
        dagster_instance=made.instance,
        dagster_run=result.dagster_run,
        dagster_event=event,
    ).for_run_failure()
    run(block("python", "CHAT_WEBHOOK"))["tell_chat"](context)
    ((text,),) = [list(each.values()) for each in kept]
    assert text.startswith(
        "small_release failed\nThe gate refused the release:\nlinking_risk (at most 0) refused"
    )


def test_its_mail_is_a_sensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMTP_PASSWORD", "x")
    (sensor,) = run(block("python", "smtp_host"))["defs"].sensors
    assert isinstance(sensor, dg.SensorDefinition)
