"""A URL where a path is expected is an error everywhere, without the URL; nothing is made or looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from anon_pipeline import anonymize, load_policy, tune
from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.places import is_local
from anon_pipeline.cli import cli
from anon_pipeline.cli.local_paths import LocalPath, TablePath
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.vault.keys import keys_from, keys_in_file
from tests.conftest import SMALL, merged

SECRET = "AKIA7SECRET"
URLS = [
    f"s3://{SECRET}:{SECRET}@bucket/out",
    f"S3://bucket/{SECRET}",
    f"s3:/bucket/{SECRET}",  # as pathlib leaves it
    f"file:///home/{SECRET}",
    f"file:/{SECRET}",
    f"simplecache::s3://bucket/{SECRET}",
    f"zip::{SECRET}.zip",
    f"gs+x://{SECRET}/a",
    f"/home/somebody/s3:/bucket/{SECRET}",  # as a project's folder before it
    f"./https://example.org/?token={SECRET}",
    f" s3:/bucket/{SECRET}",
    f"s3:\\bucket\\{SECRET}",
]
PATHS = [
    "out",
    "a/b.csv",
    "../x",
    "/data/2026-01-01T10:00/x",
    "a:b",
    "C:/data",
    "x{partition}.csv",
    "10:/m.json",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_no_path(url: str) -> None:
    assert not is_local(url)
    assert not is_local(Path(url))
    assert not is_local(Path(url).absolute())


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_local(path: str) -> None:
    assert is_local(path)


FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "publish.to": lambda url: {"publish": {"to": url}},
    "publish.sign.key_file": lambda url: {"publish": {"sign": {"key_file": url}}},
    "source.path": lambda url: {"source": {"path": url}},
    "deidentify.key_file": lambda url: {
        "columns": {"person": {"action": "hash"}},
        "deidentify": {"key_file": url},
    },
    "gate.attacks.population.path": lambda url: {
        "gate": {"attacks": {"population": {"path": url, "journalist_risk": 0.5}}}
    },
    "columns.city.hierarchy": lambda url: {
        "columns": {"city": {"hierarchy": {"suppress": None, "table": url}}}
    },
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_policy_names_no_url(field: str) -> None:
    policy_from(merged(SMALL, FIELDS[field]("a/plain.file")))
    for url in URLS:
        with pytest.raises(PolicyError) as refused:
            policy_from(merged(SMALL, FIELDS[field](url)))
        [line] = refused.value.problems
        assert line.startswith(field)
        assert "must be a local path, got a URL" in line
        assert SECRET not in str(refused.value)


@pytest.mark.parametrize("folder", ["SOURCES", "HIERARCHIES", "RELEASES"])
@pytest.mark.parametrize("url", URLS)
def test_an_environment_variable_names_no_url(folder: str, url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"ANON_PIPELINE_{folder}.*must be a local path") as refused:
        Locations.of(tmp_path, {f"ANON_PIPELINE_{folder}": url})
    assert SECRET not in str(refused.value)


def test_a_vault_that_is_half_a_url_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ANON_PIPELINE_VAULT.*must be a local path"):
        Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": "s3:/bucket/vault"})
    with pytest.raises(InputError, match=r"ANON_PIPELINE_VAULT.*must be a local path"):
        Locations(tmp_path, tmp_path, tmp_path, Path("s3://bucket/vault"))
    assert Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": "s3://bucket/vault"}).remote_vault


@pytest.mark.parametrize("folder", ["sources", "hierarchies", "releases", "vault"])
def test_dagsters_folders_name_no_url(folder: str, tmp_path: Path) -> None:
    plain = Folders.of(Locations.of(tmp_path, {}))
    given = {name: getattr(plain, name) for name in Folders.model_fields if name != "remote_vault"}
    for url in URLS:
        with pytest.raises(InputError) as refused:
            Folders(**{**given, folder: url}).locations()
        assert SECRET not in str(refused.value)


def test_the_library_takes_no_url(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    for refused in (anonymize, tune):
        with pytest.raises(InputError, match="must be a local path"):
            refused(small_policy(), small_people(), hierarchies=URLS[0])
    with pytest.raises(PolicyError, match="the policy must be a local path"):
        load_policy(URLS[0])


def test_a_vault_key_is_in_no_url() -> None:
    with pytest.raises(InputError, match=r"ANON_PIPELINE_VAULT_KEY_FILE: .*must be a local path") as refused:
        keys_from({"ANON_PIPELINE_VAULT_KEY_FILE": URLS[0]})
    assert SECRET not in str(refused.value)
    with pytest.raises(InputError, match="must be a local path"):
        keys_in_file(Path("file:///key"))


def _parameters(
    command: click.Command, names: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Parameter]]:
    for param in command.params:
        if isinstance(param.type, click.Path):
            yield names, command, param
    for name, below in getattr(command, "commands", {}).items():
        yield from _parameters(below, (*names, name))


PARAMETERS = [
    pytest.param(names, command, param, id=" ".join((*names, str(param.name))))
    for names, command, param in _parameters(cli)
]


def test_all_commands_with_paths_are_found() -> None:
    assert len(PARAMETERS) > 30
    assert all(isinstance(param.values[2].type, LocalPath) for param in PARAMETERS)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("names", "command", "param"), PARAMETERS)
def test_no_parameter_of_a_command_takes_a_url(
    names: tuple[str, ...],
    command: click.Command,
    param: click.Parameter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for url in URLS:
        words: list[str] = []
        for other in command.params:
            given = url if other is param else getattr(other.type, "choices", ["1"])[0]
            if isinstance(other, click.Argument):
                words += [given]
            elif other is param or other.required:
                words += [other.opts[0], given]
        done = CliRunner().invoke(cli, [*names, *words])
        assert done.exit_code == 2, done.output
        table = isinstance(param.type, TablePath)
        assert ("or a URL that a policy" if table else "must be a local path, got a URL") in " ".join(
            done.output.split()
        )
        assert SECRET not in done.output
        assert not list(tmp_path.iterdir())
