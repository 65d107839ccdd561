"""What `doctor` finds in installations that are as they should be, and in those that are not."""

from __future__ import annotations

import struct
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from anon_pipeline.cli import installation
from anon_pipeline.cli.installation import CHECKS, Finding, examine
from anon_pipeline.policy.locations import Locations

KEY = bytes(range(32)).hex()

Looks = Callable[..., dict[str, Finding]]


@pytest.fixture
def looks(tmp_path: Path) -> Looks:
    """Examine a project of its own under some variables."""

    def at(**environ: str) -> dict[str, Finding]:
        found = examine(Locations.of(tmp_path, environ), {"NUMBA_CACHE_DIR": str(tmp_path), **environ})
        return {one.name: one for one in found}

    return at


def private_vault(project: Path) -> Path:
    (project / "vault").mkdir(mode=0o700)
    file = project / "vault" / "patients-raw.arrow"
    file.write_bytes(b"private")
    file.chmod(0o600)
    return file


def test_every_check_has_a_finding_in_the_order_of_the_table(looks: Looks) -> None:
    found = looks()
    assert list(found) == [check.name for check in CHECKS]
    assert {one.verdict for one in found.values()} <= {"ok", "warn"}
    assert all(one.advice for one in found.values() if one.verdict != "ok")


def test_a_requirement_that_does_not_fit_fails(looks: Looks, monkeypatch: pytest.MonkeyPatch) -> None:
    assert looks()["versions"].verdict == "ok"
    monkeypatch.setattr(
        installation.metadata, "requires", lambda _: ["numpy>=999", "no-such-package", "click"]
    )
    found = looks()["versions"]
    assert found.verdict == "fail"
    assert "numpy>=999" in found.found
    assert "no-such-package (installed: none)" in found.found
    assert "click" not in found.found


def test_a_plugin_that_is_allowed_and_not_installed_fails(
    looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_PIPELINE_PLUGINS", "no-such-plugin")
    assert looks()["plugins"].verdict == "fail"


def test_the_key_is_told_by_its_id_and_never_shown(looks: Looks) -> None:
    assert looks()["vault_key"].verdict == "warn"
    found = looks(ANON_PIPELINE_VAULT_KEY=KEY)["vault_key"]
    assert found.verdict == "ok"
    assert KEY[:8] not in str(found)
    assert looks(ANON_PIPELINE_VAULT_KEY="short")["vault_key"].verdict == "fail"
    assert "short" not in looks(ANON_PIPELINE_VAULT_KEY="short")["vault_key"].found


def test_a_file_of_keys_that_others_may_open_fails(looks: Looks, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(KEY, encoding="ascii")
    for mode, verdict in ((0o600, "ok"), (0o640, "fail"), (0o604, "fail")):
        file.chmod(mode)
        assert looks(ANON_PIPELINE_VAULT_KEY_FILE=str(file))["key_files"].verdict == verdict
    file.unlink()
    assert looks(ANON_PIPELINE_VAULT_KEY_FILE=str(file))["key_files"].verdict == "fail"


def test_a_vault_that_others_may_open_fails_without_the_names_of_its_files(
    looks: Looks, tmp_path: Path
) -> None:
    assert looks()["vault_permissions"].verdict == "ok"
    file = private_vault(tmp_path)
    assert looks()["vault_permissions"].verdict == "ok"
    file.chmod(0o640)
    found = looks()["vault_permissions"]
    assert found.verdict == "fail"
    assert "1 of its files" in found.found
    assert file.name not in found.found
    assert looks(ANON_PIPELINE_VAULT="memory://vault")["vault_permissions"].verdict == "warn"


def test_files_that_were_written_before_there_was_a_key_are_counted(looks: Looks, tmp_path: Path) -> None:
    folder = private_vault(tmp_path).parent / "patients"
    folder.mkdir(mode=0o700)
    file = folder / "gate.json"
    file.write_bytes(b"{}")
    file.chmod(0o600)
    assert looks()["vault_permissions"].verdict == "ok"
    found = looks(ANON_PIPELINE_VAULT_KEY=bytes(range(32)).hex())["vault_permissions"]
    assert found.verdict == "warn" and "1 of its files were written without" in found.found
    assert "rotate" in found.advice


def index(project: Path, path: bytes) -> None:
    """Write an index of git that lists one file."""
    entry = bytes(60) + struct.pack(">H", len(path)) + path
    entry += bytes(8 - len(entry) % 8)
    data = b"DIRC" + struct.pack(">II", 2, 1) + entry
    (project / ".git" / "index").write_bytes(data + sha1(data, usedforsecurity=False).digest())


def test_private_files_that_git_tracks_fail(looks: Looks, tmp_path: Path) -> None:
    private_vault(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    assert looks()["vault_under_git"].verdict == "ok"
    index(tmp_path, b"vault/patients-raw.arrow")
    found = looks()["vault_under_git"]
    assert (found.verdict, found.found) == ("fail", "git tracks 1 files of the vault, 0 of private/")
    index(tmp_path, b"private/people/town.csv")
    found = looks()["vault_under_git"]
    assert (found.verdict, found.found) == ("fail", "git tracks 0 files of the vault, 1 of private/")
    index(tmp_path, b"tables/private/people/town.csv")
    assert looks()["vault_under_git"].verdict == "ok"
    assert looks(ANON_PIPELINE_HIERARCHIES=str(tmp_path / "tables"))["vault_under_git"].verdict == "fail"


def test_the_ledger_is_looked_at_and_not_opened(looks: Looks, tmp_path: Path) -> None:
    assert looks()["ledger"].verdict == "ok"
    assert not (tmp_path / "ledger.sqlite").exists()
    assert looks(ANON_PIPELINE_LEDGER="off")["ledger"].verdict == "warn"
    file = tmp_path / "ledger.sqlite"
    file.write_bytes(b"no database")
    file.chmod(0o620)
    assert looks()["ledger"].verdict == "fail"
    file.chmod(0o600)
    assert looks()["ledger"].verdict == "ok"


def test_the_folder_for_columns_of_large_tables(looks: Looks, tmp_path: Path) -> None:
    assert looks()["scratch"].verdict == "ok"
    there = tmp_path / "fast"
    assert looks(ANON_PIPELINE_SCRATCH=str(there))["scratch"].verdict == "fail"
    there.mkdir()
    found = looks(ANON_PIPELINE_SCRATCH=str(there))["scratch"]
    assert found.verdict == "ok"
    assert "GiB free" in found.found
    (there / "file").touch()
    assert looks(ANON_PIPELINE_SCRATCH=str(there / "file"))["scratch"].verdict == "fail"


def test_dagsters_folder_and_telemetry(looks: Looks, tmp_path: Path) -> None:
    assert (looks()["dagster_home"].verdict, looks()["telemetry"].verdict) == ("warn", "warn")
    assert looks(DAGSTER_HOME="relative")["dagster_home"].verdict == "fail"
    assert looks(DAGSTER_HOME=str(tmp_path / "none"))["dagster_home"].verdict == "fail"
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    there = {"DAGSTER_HOME": str(home)}
    assert (looks(**there)["dagster_home"].verdict, looks(**there)["telemetry"].verdict) == ("ok", "warn")
    assert looks(**there, DAGSTER_DISABLE_TELEMETRY="yes")["telemetry"].verdict == "ok"
    for text, verdict in (
        ("telemetry: {enabled: false}", "ok"),
        ("telemetry: {enabled: true}", "warn"),
        ("[", "fail"),
    ):
        (home / "dagster.yaml").write_text(text, encoding="ascii")
        assert looks(**there)["telemetry"].verdict == verdict
    home.chmod(0o770)
    assert looks(**there)["dagster_home"].verdict == "fail"


def test_the_folder_of_compiled_kernels(looks: Looks, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o755)
    there = {"NUMBA_CACHE_DIR": str(folder)}
    assert looks(**there)["numba_cache"].verdict == "warn"
    (folder / "loop.nbi").touch()
    assert looks(**there)["numba_cache"].found.startswith("1 kernels compiled")
    assert looks(**there, NUMBA_DISABLE_JIT="1")["numba_cache"].verdict == "warn"
    folder.chmod(0o777)
    assert looks(**there)["numba_cache"].verdict == "fail"
