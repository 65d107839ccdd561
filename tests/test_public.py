"""The public surface, spelled out by hand, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import anon_pipeline

PUBLIC = [
    "AnonPipelineError",
    "AnonymizedRelease",
    "BucketizedRelease",
    "EpsilonDpRelease",
    "GateRefused",
    "GateReport",
    "Grid",
    "InfeasibleError",
    "InputError",
    "Locations",
    "Memory",
    "Policy",
    "PolicyError",
    "PublishError",
    "Release",
    "SyntheticRelease",
    "Verdict",
    "anonymize",
    "evaluate",
    "load_policy",
    "make_release",
    "parse_policy",
    "patients",
    "tune",
]
HEAVY = {
    "dagster",
    "great_expectations",
    "numba",
    "pandas",
    "pandera",
    "pyarrow",
    "pydantic",
    "rich",
    "sklearn",
    "sqlalchemy",
}


def loaded_after(code: str) -> set[str]:
    listing = "import json; print(json.dumps(sorted({n.split('.')[0] for n in sys.modules})))"
    program = f"import sys\n{code}\n{listing}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_public_names() -> None:
    assert anon_pipeline.__all__ == PUBLIC
    for name in PUBLIC:
        assert getattr(anon_pipeline, name).__name__ == name


def test_dir_names_them_for_the_component_registry() -> None:
    assert set(PUBLIC) <= set(dir(anon_pipeline))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(anon_pipeline, "anonymise")


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_after("import anon_pipeline")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "from anon_pipeline.cli import cli\n"
        "from click.testing import CliRunner\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0"
    )
    assert not HEAVY & loaded_after(code)


def test_a_release_in_a_notebook_needs_neither_dagster_nor_great_expectations() -> None:
    assert not {"dagster", "great_expectations"} & loaded_after(
        "from anon_pipeline import anonymize, parse_policy"
    )
