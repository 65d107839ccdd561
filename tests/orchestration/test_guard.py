"""A hostile `defs.yaml` is refused by the limit's name: before Dagster reads it, and in what it became."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dagster.components.testing import create_defs_folder_sandbox

from anon_pipeline import AnonymizedRelease
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.base.size_bounds import POLICY_BYTES
from anon_pipeline.orchestration.guard import check_defs, check_defs_below, questions_in_defs
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.size import refuse_large_values
from anon_pipeline.policy.templates import template

LAUGHS = "\n".join(
    ["  a0: &a0 [lol, lol, lol]"]
    + [f"  a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(10))}}}" for i in range(1, 30)]
)
FINE = template("visitors")
HOSTILE = {
    "aliases": (
        FINE.replace("attributes:\n", f"attributes:\n{LAUGHS}\n", 1),
        "at most 100,000 keys and values",
    ),
    "aliases beside the policy": (f"{FINE}\nbeside:\n{LAUGHS}\n", "at most 100,000 keys and values"),
    "aliases in another document": (f"{FINE}\n---\nbeside:\n{LAUGHS}\n", "at most 100,000 keys and values"),
    "endless": (f"{FINE}\nbeside: &a [*a]\n", "the policy must be finite"),
    "deep": (f"{FINE}\nbeside: {'[' * 5000}{']' * 5000}\n", "must be well-formed YAML"),
    "deeper than allowed": (f"{FINE}\nbeside: {'[' * 80}{']' * 80}\n", "at most 60 levels deep"),
    "large": (FINE + "#" * POLICY_BYTES, "at most 1,048,576 bytes"),
    "a long text": (f"{FINE}\nbeside: {'b' * 10_001}\n", "a text must have at most 10,000 characters"),
    "twice": (FINE.replace("attributes:\n", "attributes:\n  name: first\n", 1), "keys must be unique"),
    "no YAML": (FINE + "\n: [", "must be well-formed YAML"),
}


def _folder(root: Path, text: str) -> Path:
    folder = root / "visitors"
    folder.mkdir(parents=True)
    (folder / "defs.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_before_dagster_reads_it(tmp_path: Path, name: str) -> None:
    text, message = HOSTILE[name]
    folder = _folder(tmp_path / "deep" / "releases", text)
    for check in (lambda: check_defs(folder), lambda: check_defs_below(tmp_path)):
        with pytest.raises(PolicyError) as caught:
            check()
        assert message in str(caught.value)
        assert "visitors/defs.yaml: " in str(caught.value)


def test_what_is_fine_or_not_there_passes(tmp_path: Path) -> None:
    check_defs_below(tmp_path)
    folder = _folder(tmp_path, f"{FINE}\n---\n{FINE}\n")
    check_defs_below(tmp_path)
    check_defs(folder)
    check_defs(folder / "nowhere")


def test_files_by_dagsters_other_names_are_found(tmp_path: Path) -> None:
    for name in ("defs.yml", "component.yaml"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("a: 1\na: 2\n", encoding="utf-8")
        with pytest.raises(PolicyError, match="keys must be unique"):
            check_defs_below(folder)


def test_the_component_knows_of_questions_in_its_file(tmp_path: Path) -> None:
    folder = _folder(tmp_path, f"# QUESTION: who?\n{FINE}\n  # QUESTION: what?\n")
    assert (len(questions_in_defs(folder)), questions_in_defs(tmp_path)) == (2, ())
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(
            component_cls=AnonymizedRelease,
            defs_yaml_contents={"type": "anon_pipeline.AnonymizedRelease", "attributes": {}},
        )
        (path / "defs.yaml").write_text(f"# QUESTION: who?\n{FINE}")
        with sandbox.load_component_and_build_defs(defs_path=path) as (component, _):
            assert isinstance(component, AnonymizedRelease)
            assert component.policy.open_questions == (1,)


@pytest.mark.parametrize("name", ["twice", "large", "a long text"])
def test_the_component_refuses_a_file_that_dagster_has_read(name: str) -> None:
    text = HOSTILE[name][0].replace("\nbeside: ", "\n# ")
    if name == "a long text":
        text = text.replace("name: visitors", f"name: {'b' * 10_001}", 1)
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(
            component_cls=AnonymizedRelease,
            defs_yaml_contents={"type": "anon_pipeline.AnonymizedRelease", "attributes": {}},
        )
        (path / "defs.yaml").write_text(text, encoding="utf-8")
        with (
            pytest.raises(Exception, match="Error while loading component") as caught,
            sandbox.load_component_and_build_defs(defs_path=path),
        ):
            pass
    assert HOSTILE[name][1] in _chain(caught.value)


def _chain(error: BaseException | None) -> str:
    """Return the text of an error and of all that led to it."""
    texts = []
    while error is not None:
        texts.append(str(error))
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def test_values_that_another_reader_made_are_weighed_where_they_are_shared() -> None:
    laugh: object = ["lol"] * 10
    for _ in range(20):
        laugh = dict.fromkeys("abcdefghij", laugh)
    for hostile in (laugh, [laugh], {"columns": laugh}, {"tree": {"x": laugh}}):
        with pytest.raises(PolicyError, match="at most 100,000 keys and values"):
            policy_from({"name": "bomb", "columns": hostile})
        with pytest.raises(PolicyError, match="at most 100,000 keys and values"):
            Policy.model_validate({"name": "bomb", "columns": hostile})


def test_values_that_are_endless_deep_or_long_are_refused() -> None:
    endless: list[object] = []
    endless.append(endless)
    deep: object = 1
    for _ in range(70):
        deep = (deep,)
    for hostile, message in (
        (endless, "must be finite"),
        (deep, "at most 60 levels deep"),
        ("b" * 10_001, "a text must have at most 10,000"),
        (10**5_000, "a number must have at most 100"),
        (-(10**100), "a number must have at most 100"),
    ):
        with pytest.raises(PolicyError, match=message):
            refuse_large_values({"a": hostile})
    refuse_large_values({"a": ["b" * 10_000, 10**99, None, 1.5, True]})


GUARDED = """from pathlib import Path
import dagster as dg
from anon_pipeline.orchestration.guard import check_defs_below


@dg.definitions
def defs():
    check_defs_below(Path(__file__).parent / "defs")
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
"""


def test_dagster_itself_refuses_a_bomb_where_the_project_asks_first(tmp_path: Path) -> None:
    """`dg check defs` as a program: guarded, it ends at once, and says why."""
    folder = tmp_path / "shop" / "defs"
    _folder(folder, HOSTILE["aliases"][0])
    (tmp_path / "pyproject.toml").write_text(
        '[tool.dg]\ndirectory_type = "project"\n'
        '[tool.dg.project]\nroot_module = "shop"\ndefs_module = "shop.defs"\n'
        'code_location_target_module = "shop.definitions"\n'
        "[tool.dg.cli]\nsuppress_warnings = ['project_and_activated_venv_mismatch']\n"
    )
    for package in (tmp_path / "shop", folder):
        (package / "__init__.py").touch()
    (tmp_path / "shop" / "definitions.py").write_text(GUARDED)
    environment = os.environ | {"DAGSTER_DISABLE_TELEMETRY": "yes", "COLUMNS": "200"}
    environment["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{environment.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [str(Path(sys.executable).parent / "dg"), "check", "defs", "--no-check-yaml"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "visitors/defs.yaml: the policy must have at most 100,000 keys and values" in said


def test_this_repository_asks_first() -> None:
    text = (Path(__file__).resolve().parents[2] / "assets" / "definitions.py").read_text(encoding="utf-8")
    assert text.index("check_defs_below(") < text.index("dg.load_from_defs_folder(")
