"""Catalogs of Apache Iceberg: the environment alone says where they are, and no error says it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import InputError
from anon_pipeline.sources.iceberg_catalogs import find_table, open_catalog, table_in, withhold_errors
from tests.iceberg_catalog import NAME, catalog_in, files_in

CANARY = "Quillfeather-4711"
URI = "PYICEBERG_CATALOG__WARE_HOUSE__URI"


def refused(name: str = NAME) -> str:
    with pytest.raises(InputError) as caught, open_catalog(name, "key", mode="ro") as catalog:
        table_in(catalog, ("shop", "people"), "key")
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def test_names_of_variables_are_as_the_library_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog_in(tmp_path, monkeypatch)
    monkeypatch.setenv("pyiceberg_catalog__Ware_House__s3__access_key_id", "me")
    monkeypatch.setenv("PYICEBERG_CATALOG__WARE__S3__ENDPOINT", "of another catalog")
    with open_catalog("Ware-House", "key", mode="ro") as catalog:
        known = dict(catalog.properties)
    assert known["warehouse"] == f"file://{tmp_path / 'warehouse'}"
    assert (known["s3.access-key-id"], "s3.endpoint" in known) == ("me", False)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, f"key.catalog: the environment must say where the catalog is: {URI} is not set"),
        ({"URI": ""}, f"{URI} is not set"),
        ({"URI": f"http://{CANARY}/"}, "key.catalog: its address must be https://"),
        ({"URI": f"nothing://{CANARY}"}, "key.catalog: the catalog must be reachable"),
        ({"URI": f"sqlite:////nowhere/{CANARY}.db"}, "key.table: the catalog must answer"),
        ({"URI": f"postgresql://me:{CANARY}@127.0.0.1:1/shop"}, "key.table: the catalog must answer"),
        ({"URI": f"http://127.0.0.1:1/{CANARY}"}, "key.catalog: the catalog must be reachable"),
        ({"TYPE": CANARY}, "key.catalog: the catalog must be reachable"),
        ({"TYPE": "sql"}, "key.catalog: the catalog must be reachable"),
    ],
)
def test_a_catalog_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], said: str
) -> None:
    monkeypatch.delenv(URI, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__WARE_HOUSE__{name}", value)
    assert said in refused()


def test_a_database_that_is_no_catalog_is_not_made_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.db").touch()
    for name in ("other.db", "missing.db"):
        monkeypatch.setenv(URI, f"sqlite:///{tmp_path / name}")
        answers = pytest.raises(InputError, match=r"key\.table: the catalog must answer")
        with answers, open_catalog(NAME, "key", mode="rw") as catalog:
            find_table(catalog, ("shop", "people"), "key")
    assert files_in(tmp_path) == {"other.db": b""}


def test_a_file_with_catalogs_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text("catalog:\n  ware-house:\n    uri: sqlite:////somewhere.db\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for module in [one for one in sys.modules if one.startswith("pyiceberg.catalog")]:
        monkeypatch.delitem(sys.modules, module)  # it looks for the file when it is imported
    assert f"{URI} is not set" in refused()


def test_a_missing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog_in(tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog", None)
    assert 'pip install "anon-pipeline[iceberg]"' in refused()


def test_a_table_that_is_there_and_one_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog_in(tmp_path, monkeypatch)
    with open_catalog(NAME, "key", mode="ro") as catalog:
        assert find_table(catalog, ("shop", "people"), "key") is None
        assert find_table(catalog, ("none", "people"), "key") is None
    assert refused() == "key.table: must be a table of the catalog, got none of this name"


def test_log_records_are_held_back_while_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    catalog_in(tmp_path, monkeypatch)
    log: Any = logging.getLogger("pyiceberg.io.pyarrow")
    with open_catalog(NAME, "key", mode="ro"):
        log.error(CANARY)
    log.error("as before")
    assert caplog.messages == ["as before"]


def test_named_errors_pass_and_others_lose_their_text() -> None:
    with pytest.raises(InputError, match=r"^mine$"), withhold_errors("the rule"):
        raise InputError("mine")
    with pytest.raises(InputError, match=r"^the rule: ZeroDivisionError$"), withhold_errors("the rule"):
        raise ZeroDivisionError(CANARY)
