"""The texts in a bundle: versions as pip reads them, and what to run."""

from __future__ import annotations

from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.publish.bundle_text import readme, versions

DOCUMENT = {
    "release": "small",
    "made_at": "2026-01-01T00:00:00+00:00",
    "packages": {"python": "3.13.1", "numpy": "2.4.0", "anon-pipeline": "0.2.0"},
    "plugins": {"mine": {}},
}
CHECKED = GateReport(
    (
        Verdict("k", Status.PASSED, 5, 3, "at least"),
        Verdict("origin", Status.UNMEASURED, reason="needs more"),
    ),
    "d",
    "p",
)


def test_versions_are_as_pip_reads_them() -> None:
    assert versions(DOCUMENT) == b"# python 3.13.1\n# plugin mine\nanon-pipeline==0.2.0\nnumpy==2.4.0\n"
    assert versions({}) == b"\n"


def test_it_says_what_to_run_and_what_was_not_checked() -> None:
    text = readme(DOCUMENT, {"policy.yaml": b""}, CHECKED, ["a.csv"], signed=False).decode()
    assert "    .venv/bin/anon-pipeline verify release --policy policy.yaml --project ." in text
    assert "    .venv/bin/pip install --constraint versions.txt anon-pipeline" in text
    assert "versions.txt anon-pipeline==0.2.0\n" in text
    assert "1 checks passed" in text
    assert "* origin: needs more" in text
    assert "put them here: a.csv" in text
    assert "public key" not in text
    signed = readme(DOCUMENT, {}, CHECKED, [], signed=True).decode()
    assert "--public-key KEY.pub" in signed
    assert "Not packed" not in signed
