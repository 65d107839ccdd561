"""What Dagster stores and shows of its resources holds no credentials, and neither does any refusal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.places import has_credentials
from anon_pipeline.cli import cli
from anon_pipeline.orchestration.resources import Folders, default_resources
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy.locations import Locations, plain_ledger
from anon_pipeline.vault.store import store_at

SECRET = "wJalrXUtnFEMI"
TELLING = [
    f"s3://AKIA:{SECRET}@bucket/vault",
    f"S3://AKIA:{SECRET}@bucket/vault",
    f"s3://AKIA:x/{SECRET}@bucket/vault",  # secrets of S3 may have a slash
    f"s3://{SECRET}@bucket/vault",
    f"s3://bucket/vault?key=AKIA&secret={SECRET}",
    f"https://host/vault?token={SECRET}",
    f"https://host/vault?X-Amz-Signature={SECRET}",
    f"https://host/vault?{SECRET}",
    f"https://host/vault#{SECRET}",
    f"simplecache::s3://AKIA:{SECRET}@bucket/vault",
    f"s3://AKIA:{SECRET}@bucket/vault::simplecache",
    f"s3://AKIA%3A{SECRET}%40bucket/vault",
    f"s3://AKIA%253A{SECRET}%2540bucket/vault",
    f"s3://bucket/vault%3Fsecret%3D{SECRET}",
    f"abfs://container;AccountKey={SECRET}/vault",
    f"sftp://user:{SECRET}@host/vault",
    f"ftp://user:{SECRET}@host:21/vault",
    f"github://org:repo@{SECRET}@x/vault",
]
PLAIN = [
    "s3://bucket/vault",
    "s3://bucket/team@example.org/vault",
    "sftp://user@host/vault",
    "sftp://user@host:2222/vault",
    "memory://vault",
    "simplecache::s3://bucket/vault",
    "gs://my-bucket/a.b/c",
    "file:///srv/vault",
]


@pytest.mark.parametrize("url", TELLING)
def test_urls_with_credentials_are_refused_wherever_one_is_configured(url: str, tmp_path: Path) -> None:
    assert has_credentials(url)
    plain = Locations.of(tmp_path, {})
    folders = {name: getattr(Folders.of(plain), name) for name in Folders.model_fields}
    ways: list[Any] = [
        lambda: Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": url}),
        lambda: Locations(tmp_path, tmp_path, tmp_path, tmp_path, remote_vault=url),
        lambda: Folders(**{**folders, "remote_vault": url}),
        lambda: Folders(**{**folders, "releases": url}),
        lambda: VaultIOManager(folder=url),
        lambda: store_at(url),
    ]
    for way in ways:
        with pytest.raises(InputError) as refused:
            way()
        assert SECRET not in f"{refused.value}{refused.value.__cause__}{refused.value.__context__}"


@pytest.mark.parametrize("url", PLAIN)
def test_urls_without_credentials_are_taken(url: str, tmp_path: Path) -> None:
    assert not has_credentials(url)
    assert (
        VaultIOManager(folder=Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": url}).vault_place).folder == url
    )


def test_a_local_vault_may_have_any_name(tmp_path: Path) -> None:
    for name in ("vault", "a:b@c", "key=1", "a?b#c"):
        assert VaultIOManager(folder=str(tmp_path / name)).folder.endswith(name)
    with pytest.raises(InputError, match="must be a local path"):
        VaultIOManager(folder="s3:/bucket/vault")


def test_a_ledger_with_a_password_is_refused_also_where_it_is_configured_directly(tmp_path: Path) -> None:
    folders = Folders.of(Locations.of(tmp_path, {}))
    given = {name: getattr(folders, name) for name in Folders.model_fields}
    for url in (
        f"postgresql://user:{SECRET}@host/db",
        f"postgresql://user@host/db?password={SECRET}",
        f"postgresql://user@host/db?p%61ssword={SECRET}",
        f"postgresql://user@host/db?sslpassword={SECRET}",
        f"postgresql://user@host/db?authtoken={SECRET}",
    ):
        with pytest.raises(InputError) as refused:
            Folders(**{**given, "ledger": url})
        assert SECRET not in str(refused.value)
    kept = "postgresql://user@host/db?sslmode=verify-full&sslkey=/etc/key.pem"
    assert plain_ledger(kept) == kept


def test_a_key_is_no_beginning_of_names() -> None:
    with pytest.raises(InputError, match="not shown") as refused:
        VaultIOManager(folder="vault", key_names=SECRET)
    assert SECRET not in str(refused.value)


def test_a_value_from_the_environment_is_named_there_and_refused_at_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VAULT_PLACE", TELLING[0])
    ran: list[str] = []

    @dg.op(required_resource_keys={"vault"})
    def look() -> None:
        ran.append("yes")

    @dg.job(resource_defs={"vault": VaultIOManager(folder=dg.EnvVar("VAULT_PLACE"))})
    def job() -> None:
        look()

    with dg.DagsterInstance.ephemeral() as instance:
        with pytest.raises(dg.DagsterError) as refused:
            job.execute_in_process(instance=instance)
        stored = "".join(
            str(record) for run in instance.get_runs() for record in instance.all_logs(run.run_id)
        )
    assert not ran
    assert "must not hold credentials" in stored
    assert SECRET not in f"{refused.value}{stored}"


@pytest.mark.parametrize("url", TELLING[:3])
def test_the_definitions_of_a_project_do_not_load_with_credentials(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT", url)
    with pytest.raises(InputError, match="must not hold credentials"):
        default_resources(tmp_path)


def test_the_command_line_does_not_repeat_them(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ANON_PIPELINE")}
    for url in TELLING:
        for words in (
            ["vault", "status", "--vault", url],
            ["vault", "purge", "--older-than", "1", "--vault", url],
        ):
            done = CliRunner().invoke(cli, words, env=environ)
            assert isinstance(done.exception, InputError)
            assert SECRET not in f"{done.exception}{done.output}"
