"""A release is read once, within bounds, and its manifest names no file elsewhere."""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.size_bounds import MANIFEST_BYTES
from anon_pipeline.publish import release_files
from anon_pipeline.publish.verify.verify import Against, verify_release
from tests.publish.projects import Project

ROOT = Path(__file__).resolve().parents[2]
Make = Callable[..., "Project"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"manifest_version": 2}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        '{"manifest_version": 1, "release": "x", "policy_digest": "", "data_digest": "", "files": [],'
        ' "gate": {"verdicts": []}}',
    ],
)
def test_what_is_no_manifest_is_an_input_error(project: Make, text: str) -> None:
    made = project()
    made.manifest.write_text(text)
    code, said = made.call("verify", "out")
    assert code == 2
    assert "must be a manifest of anon-pipeline" in said


@pytest.mark.parametrize("name", ["../people.csv", "/etc/passwd", "", ".", "a/b", "a\\b", "a\0b", 3, None])
def test_a_manifest_cannot_name_files_elsewhere(project: Make, name: object) -> None:
    made = project()
    made.edit(lambda document: document["files"][0].update(name=name))
    code, said = made.call("verify", "out")
    assert code in (1, 2)
    assert "Traceback" not in said


CSV = {"publish": {"format": "csv"}}


def _redone(made: Project, data: bytes) -> None:
    """Write other bytes, with their name, digest and size in the manifest."""
    digest, old = hashlib.sha256(data).hexdigest(), made.data
    name = f"small-{digest[:16]}{old.suffix}"
    made.edit(lambda document: document["files"][0].update(name=name, sha256=digest, size=len(data)))
    old.rename(made.data)
    made.data.write_bytes(data)


def test_the_file_is_read_once(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is said of the bytes whose SHA-256 was compared, whatever the path leads to afterwards."""
    made = project(**CSV)
    name, bytes_of = made.data.name, release_files.read_bytes

    def exchanged(path: Path, *more: Any) -> bytes:
        data = bytes_of(path, *more)
        path.write_bytes(b"a,b\n1,2\n")
        return data

    monkeypatch.setattr(release_files, "read_bytes", exchanged)
    report = verify_release(made.path / "out", Against())
    assert {v.limit: str(v.status) for v in report.verdicts}[f"file.{name}"] == "passed"
    assert {v.limit: str(v.status) for v in report.verdicts}["data_digest"] == "passed"
    made.data.unlink()  # a file of a former release whose content is another's
    made = project(**CSV)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert made.data.read_bytes() == b"a,b\n1,2\n"


def test_a_manifest_is_no_link(project: Make) -> None:
    made = project()
    made.manifest.rename(made.path / "elsewhere.json")
    made.manifest.symlink_to(made.path / "elsewhere.json")
    code, said = made.call("verify", "out")
    assert code == 2
    assert "must be a file, got a link" in said


def test_a_manifest_that_is_too_large(project: Make) -> None:
    made = project()
    made.edit(lambda d: d.update(more="x" * MANIFEST_BYTES))
    code, said = made.call("verify", "out")
    assert code == 2
    assert "too large" in said
    assert made.call("verify", "/dev/zero")[0] == 2


@pytest.mark.parametrize("policy", [(), ("--policy", "policy.yaml")])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_small_file_that_is_a_large_table(project: Make, form: str, policy: tuple[str, ...]) -> None:
    """100 million zeros in some 100 kB of Parquet; of CSV, 60 MB of lines. The child has 4 GiB."""
    made = project(source={"limits": {"rows": 1_000_000}}, publish={"format": form})
    if form == "parquet":
        part = pa.table({"a": np.zeros(10_000_000, np.int64)})
        with pq.ParquetWriter(made.data, part.schema, compression="zstd") as writer:
            for _ in range(10):
                writer.write_table(part)
    else:
        pa_csv.write_csv(pa.table({"a": np.zeros(30_000_000, np.int8)}), made.data)
    _redone(made, made.data.read_bytes())
    run = subprocess.run(
        [sys.executable, "-c", "from anon_pipeline.cli import main; main()", "verify", str(made.path / "out")]
        + [str(made.path / part) if part.endswith("yaml") else part for part in policy],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert "refused by data_digest" in run.stderr
    assert "keep the limit rows" in " ".join(run.stdout.replace("│", " ").split())


def test_names_of_files_that_are_not_plain(project: Make) -> None:
    made = project()
    made.edit(lambda d: d["files"][0].update(name="x\x1b[31m.csv"))
    code, said = made.call("verify", "out")
    assert code == 2
    assert "\x1b" not in said
