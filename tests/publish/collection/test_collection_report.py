"""The page is made of the manifests that were verified, and of no others."""

from __future__ import annotations

import shutil

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.publish.collection.collection_report import report_on_collection
from tests.publish.collection.conftest import Several


def test_it_is_the_page_that_was_written_without_the_signature(collected: Several) -> None:
    out, document = collected.folder / "out", collected.collect()
    page = report_on_collection(out, document)
    assert page == (out / "report.html").read_bytes()
    assert page == report_on_collection(out, {k: v for k, v in document.items() if k != "signature"})


def test_a_manifest_that_was_not_verified_is_refused(collected: Several) -> None:
    out, document = collected.folder / "out", collected.collect()
    shutil.rmtree(out / "a.1")
    with pytest.raises(InputError, match=r"a\.1: manifest\.json cannot be read"):
        report_on_collection(out, document)
    shutil.copytree(collected.spare, out / "a.1")
    with pytest.raises(InputError, match=r"a\.1 was made again meanwhile"):
        report_on_collection(out, document)
