"""Templates of a policy: the same in Dagster and on the command line, and no way out for secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from dagster.components.testing import create_defs_folder_sandbox

from anon_pipeline import AnonymizedRelease, load_policy
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.rendering import by_environment, render_attributes
from anon_pipeline.policy.templates import template

DAGSTERS = """
requirements: {env: [HOW_MANY]}
post_processing:
  assets: [{target: "*", attributes: {owners: ["team:privacy"], tags: {domain: health}}}]
"""
WRITTEN = (
    template("visitors")
    .replace("k: 10, recoder", "k: '{{ env.HOW_MANY }}', recoder")
    .replace("{format: parquet}", "{to: \"{{ env('WHERE', 'out') }}/visitors\"}")
) + DAGSTERS


def test_one_file_is_the_same_policy_in_dagster_and_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOW_MANY", "10")
    (tmp_path / "policy.yaml").write_text(WRITTEN)
    policy = load_policy(tmp_path / "policy.yaml")
    assert (policy.anonymize.k, policy.publish.to) == (10, "out/visitors")
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(component_cls=AnonymizedRelease, defs_yaml_contents={})
        (path / "defs.yaml").write_text(WRITTEN)
        with sandbox.load_component_and_build_defs(defs_path=path) as (component, definitions):
            assert isinstance(component, AnonymizedRelease)
            assert component.policy.digest == policy.digest
            specs = definitions.resolve_all_asset_specs()
            assert {tuple(spec.owners) for spec in specs} == {("team:privacy",)}
            assert {spec.tags["domain"] for spec in specs} == {"health"}


def test_variables_of_a_module_are_dagsters(tmp_path: Path) -> None:
    text = template("visitors").replace("k: 10, recoder", "k: '{{ how_many }}', recoder")
    text += "template_vars_module: .template_vars\n"
    with pytest.raises(PolicyError, match=r"anonymize\.k: .* rendered by Dagster alone"):
        parse_policy(text)
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(component_cls=AnonymizedRelease, defs_yaml_contents={})
        (path / "defs.yaml").write_text(text)
        (path / "template_vars.py").write_text(
            "import dagster as dg\n\n\n@dg.template_var\ndef how_many() -> int:\n    return 12\n"
        )
        with sandbox.load_component_and_build_defs(defs_path=path) as (component, _):
            assert isinstance(component, AnonymizedRelease)
            assert component.policy.anonymize.k == 12


def test_what_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOW_MANY", raising=False)
    with pytest.raises(PolicyError) as caught:
        parse_policy(WRITTEN)
    assert caught.value.problems == (
        "anonymize.k: must be a template that can be rendered, but the environment variable HOW_MANY is "
        "not set",
    )
    required = template("visitors") + "requirements: {env: [HOW_MANY]}\n"
    with pytest.raises(PolicyError, match=r"^requirements\.env: HOW_MANY must be set$"):
        parse_policy(required)


@pytest.mark.parametrize(
    "text",
    [
        "{{ env.AWS_SECRET_ACCESS_KEY }}",
        "x{{env('PGPASSWORD','')}}",
        "{{ env .GITHUB_TOKEN }}",
        '{{ env( "MY_CREDENTIALS" ) | upper }}',
    ],
)
def test_the_name_of_a_secret_is_refused(text: str) -> None:
    with pytest.raises(PolicyError, match=r"responsible\.purpose: must not hold a secret, got env\."):
        render_attributes({"responsible": {"purpose": text}}, by_environment({}))


@pytest.mark.parametrize(
    "text",
    [
        "{{ env.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ env._environ }}",
        "{{ env.__init__.__globals__ }}",
        "{{ env }}{{ [].append(1) }}",
        "{{ nobody }}",
        "{{ env.X",
    ],
)
def test_a_template_gets_nothing_but_variables(text: str) -> None:
    with pytest.raises(PolicyError, match="must be a template that can be rendered, but "):
        render_attributes({"name": text}, by_environment({"HIDDEN": "CANARY-7f3a"}))


def test_texts_without_templates_stay_what_they_are() -> None:
    texts = {"a": ["08", "1, 2", "None", "{% raw %}", "{x}"], "b": {"c": "3.0"}}
    assert render_attributes(texts, by_environment({})) == texts
