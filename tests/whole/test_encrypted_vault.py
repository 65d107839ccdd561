"""Whole releases through an encrypted vault: nothing readable on disk, nothing of the key anywhere."""

from __future__ import annotations

import base64
import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import fsspec
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.resources import VAULT, Folders, default_resources
from anon_pipeline.orchestration.vault import (
    VaultIOManager,
    check_retainable,
    retain_by_policy,
)
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from anon_pipeline.vault.artifacts import Vault, survey
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.store import store_at

Make = Callable[..., Any]
CANARY = "CANARY-7f3a"
SECRET = os.urandom(32)
WEEKLY = {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}
MEASURED = 1  # file with what the gate has measured, beside the tables


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", SECRET.hex())
    return SECRET


def everything(folder: Path) -> bytes:
    """The bytes of every file, and their names."""
    return b"".join(str(p).encode() + p.read_bytes() for p in folder.rglob("*") if p.is_file())


def failures(result: dg.ExecuteInProcessResult) -> str:
    """All that a run says of its failures."""
    return "".join(str(event.step_failure_data.error) for event in result.all_events if event.is_step_failure)


def test_a_release_through_an_encrypted_vault(
    project: Make, key: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    made = project()
    result = made.run("small_release")
    assert result.success
    assert survey(LocalStore(made.folder / "vault")).sealed == {vault_key(key).id: len(STAGES) + MEASURED}
    disk = everything(made.folder)
    said = "".join(str(event) for event in result.all_events) + "".join(capfd.readouterr())
    for spelled in (key, key.hex().encode(), base64.b64encode(key)):
        assert spelled not in disk
        assert spelled.decode("latin-1") not in said
    assert "not encrypted" not in said


def test_plain_text_is_not_on_disk_while_a_table_is_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({CANARY: [f"{CANARY}{i}" for i in range(200_000)]})  # names are stored uncompressed
    write_staged(tmp_path / "plain" / "a.parquet", Staged(frame, {}))
    assert CANARY.encode() in everything(tmp_path / "plain").replace(b"/plain/", b"")
    looked = []

    class Watched(LocalStore):
        def writing(self, name: str) -> Any:
            return watched(super().writing(name))

    class watched:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __enter__(self) -> Any:
            file = self.inner.__enter__()
            write = file.write

            class Spy:
                def write(self, data: bytes) -> int:
                    size = int(write(data))
                    file.flush()
                    looked.append(CANARY.encode() in everything(tmp_path / "sealed"))
                    return size

            return Spy()

        def __exit__(self, *error: Any) -> Any:
            return self.inner.__exit__(*error)

    vault = Vault(Watched(tmp_path / "sealed"), Keys(vault_key(SECRET)))
    write_staged(Path("r/a.parquet"), Staged(frame, {}), vault=vault)
    assert len(looked) >= 2
    assert not any(looked)
    assert CANARY.encode() not in everything(tmp_path / "sealed")
    pd.testing.assert_frame_equal(read_staged(Path("r/a.parquet"), vault=vault).frame, frame)


def test_a_changed_table_stops_the_release(project: Make, key: bytes) -> None:
    made = project()
    assert made.materialize(*STAGES).success
    path = made.folder / "vault" / "small" / "suppressed.parquet"
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)
    text = failures(made.materialize("published"))
    assert "must be as it was written" in text
    assert made.released() == []


def test_tables_of_another_stage_or_partition_do_not_open(project: Make, key: bytes) -> None:
    made = project(schedule=WEEKLY)
    assert made.materialize(*STAGES, partition="2026-01-05").success
    folder = made.folder / "vault" / "small"
    for stage in ("k_anonymized", "suppressed"):
        table = (folder / stage / "2026-01-05.parquet").read_bytes()
        (folder / stage / "2026-01-12.parquet").write_bytes(table)
    assert "renamed or exchanged" in failures(made.materialize("published", partition="2026-01-12"))


def test_a_vault_is_encrypted_or_not_never_half(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = project()
    assert made.materialize("raw").success
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", SECRET.hex())
    assert "is not encrypted, but a vault key is set" in failures(made.materialize("deidentified"))
    assert made.materialize("raw").success
    monkeypatch.delenv("ANON_PIPELINE_VAULT_KEY")
    text = failures(made.materialize("deidentified"))
    assert "is encrypted and there is no key" in text
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", "")
    assert "must not be empty" in failures(made.materialize("raw"))


def test_without_a_key_it_says_so_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said = []
    manager = VaultIOManager(folder=str(tmp_path))
    for name in ("a", "b"):
        context = dg.build_output_context(asset_key=dg.AssetKey(name))
        context.log.warning = said.append  # type: ignore[method-assign]
        manager.handle_output(context, Staged(pd.DataFrame({"x": [1]}), {}))
    assert len(said) == 1
    assert "The vault is not encrypted" in said[0]


def test_the_managers_config_names_variables_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC_KEY", SECRET.hex())
    named = VaultIOManager(folder=str(tmp_path), key_names="CLINIC")
    assert named.vault().keys.current == vault_key(SECRET)
    with pytest.raises(InputError, match="A key itself does not belong there") as raised:
        VaultIOManager(folder=str(tmp_path), key_names=SECRET.hex()).vault()
    assert SECRET.hex() not in str(raised.value)


def test_a_remote_vault_by_environment(
    project: Make, key: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT", "memory://vault-release")
    folders = Locations.of(tmp_path)
    assert folders.vault_place == "memory://vault-release"
    assert Folders.of(folders).locations() == folders
    assert default_resources(tmp_path)[VAULT].folder == "memory://vault-release"
    try:
        made = project(vault={"retain": 30})
        assert made.run("small_release").success
        assert survey(store_at("memory://vault-release")).sealed == {
            vault_key(key).id: len(STAGES) + MEASURED
        }
        here = list((made.folder / "vault").rglob("*"))  # the lock of the draws is here, no table and no key
        assert not [path.name for path in here if path.suffix in {".parquet", ".draw"}]
    finally:
        fsspec.filesystem("memory").rm("/vault-release", recursive=True)


def test_retain_none_deletes_after_publishing_and_published_alone_says_why(project: Make) -> None:
    made = project(vault={"retain": "none"})
    assert made.run("small_release").success
    assert len(made.released()) == 4
    assert survey(LocalStore(made.folder / "vault")) == survey(LocalStore(made.folder / "nothing"))
    text = failures(made.materialize("published"))
    assert "the vault does not have small/k_anonymized.parquet" in text
    assert "vault.retain may have deleted its table" in text
    assert len(made.released()) == 4


def test_a_refused_release_deletes_nothing(project: Make) -> None:
    made = project(vault={"retain": "none"}, gate={"linking_risk": 0.0})
    assert not made.run("small_release").success
    assert survey(LocalStore(made.folder / "vault")).plain == len(STAGES) + MEASURED + 1  # and the draw


def test_retain_days_deletes_older_partitions(project: Make) -> None:
    made = project(vault={"retain": 7}, schedule=WEEKLY)
    assert made.materialize(*STAGES, partition="2026-01-05").success
    folder = made.folder / "vault" / "small"
    for path in folder.rglob("*.parquet"):
        os.utime(path, (0, 0))
    assert made.materialize(*STAGES, "published", partition="2026-01-12").success
    assert {path.name for path in folder.rglob("*.parquet")} == {"2026-01-12.parquet"}


def test_retain_needs_our_manager(small_policy: Callable[..., Policy], tmp_path: Path) -> None:
    check_retainable(object(), small_policy())
    check_retainable(VaultIOManager(folder=str(tmp_path)), small_policy(vault={"retain": "none"}))
    with pytest.raises(InputError, match="another IO manager"):
        check_retainable(object(), small_policy(vault={"retain": "none"}))


def test_what_could_not_be_deleted_is_said(
    small_policy: Callable[..., Policy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_staged(tmp_path / "small" / "raw.parquet", Staged(pd.DataFrame({"a": [1]}), {}))

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(f"{CANARY}")

    monkeypatch.setattr(Path, "unlink", denied)
    manager, policy = VaultIOManager(folder=str(tmp_path)), small_policy(vault={"retain": "none"})
    with pytest.raises(InputError, match="the release is published, but") as raised:
        retain_by_policy(manager, policy, None, now=datetime.datetime.now(datetime.UTC))
    assert CANARY not in f"{raised.value}{raised.value.__cause__}{raised.value.__context__}"
