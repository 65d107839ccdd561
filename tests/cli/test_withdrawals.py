"""Warnings about releases that are out, as commands print them and as JSON has them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.cli.withdrawals import (
    find_withdrawal,
    print_warnings_about,
    print_withdrawal,
    warning_documents,
)
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.verify.old_warnings import Warned
from anon_pipeline.publish.verify.withdrawn import WITHDRAWN
from tests.cli.projects import Folder

ONE = Warned("a-section", "it says too much")


def test_a_warning_names_the_page_that_explains_it(capsys: pytest.CaptureFixture[str]) -> None:
    section = "docs/releases-already-out.md#a-section"
    print_warnings_about([ONE])
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", f"warning: it says too much. See {section}\n")
    assert warning_documents([ONE]) == [{"name": "a-section", "text": "it says too much", "section": section}]
    assert warning_documents([]) == []


def test_a_withdrawal_is_found_by_the_folder_and_by_the_manifest(
    folder: Callable[..., Folder], capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    places, release = Locations.of(made.path, {}), made.path / "out"
    print_withdrawal(release, places)
    assert capsys.readouterr().err == ""
    book = ledger_at(places.ledger)
    book.withdraw(book.events()[-1].release_id)
    for given in (release, release / "manifest.json"):
        found = find_withdrawal(given, places)
        assert found is not None
        assert found.name == WITHDRAWN
        print_withdrawal(given, places)
        assert capsys.readouterr().err.startswith("warning: it was withdrawn on ")
