"""Every change of a folder after it was collected is refused, and by which reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.publish.collection import collection_check
from anon_pipeline.publish.collection.collection_check import AGAIN, check_collection, verify_collection
from anon_pipeline.publish.collection.collection_document import describe_page
from anon_pipeline.publish.manifest.signatures import sign
from anon_pipeline.publish.verify.together import Verifications, verify_together
from anon_pipeline.publish.verify.verify import Against
from tests.example_counts import examples_of
from tests.publish.collection.conftest import Several

Change = Callable[..., None]
NOTHING = Verifications({}, Verdict("partitions", Status.PASSED), None)
KEYS_OF_DOCUMENT = (
    "collection_version",
    "anon_pipeline",
    "release",
    "keys_checked",
    "parts",
    "together",
    "report",
)


def verdict(several: Several, against: Against | None = None) -> Verdict:
    """Return the verdict on the collection, which decides about `refused`, too."""
    found = verify_collection(several.folder / "out", Against() if against is None else against)
    assert found.collection is not None
    assert ("collection" in found.refused) is (found.collection.status is Status.REFUSED)
    return found.collection


def refused(several: Several, against: Against | None = None) -> str:
    found = verdict(several, against)
    assert found.status is Status.REFUSED, found
    return str(found.reason)


def test_what_was_collected_is_verified_with_and_without_policy_and_key(collected: Several) -> None:
    assert verdict(collected, collected.against) == Verdict("collection", Status.PASSED)
    assert verdict(collected).reason == "its signature needs --public-key"
    assert verdict(collected, Against(collected.policy, collected.folder)).status is Status.PASSED


def test_without_a_collection_nothing_is_said(several: Several) -> None:
    found = verdict(several)
    assert (found.status, "there is no collection.json" in str(found.reason)) == (Status.UNMEASURED, True)


def test_a_missing_release_is_named_without_the_policy(collected: Several) -> None:
    shutil.rmtree(collected.folder / "out" / "a.2")
    assert refused(collected) == f"1 release listed and not there: a.2; {AGAIN}"


def test_an_added_release_is_named(collected: Several) -> None:
    shutil.copytree(collected.spare, collected.folder / "out" / "b.1")
    assert f"1 release there and not listed: b.1; {AGAIN}" in refused(collected)


def test_a_release_that_was_made_again_is_named_though_it_verifies(collected: Several) -> None:
    shutil.rmtree(collected.folder / "out" / "a.1")
    shutil.copytree(collected.spare, collected.folder / "out" / "a.1")
    found = verify_collection(collected.folder / "out", collected.against)
    assert found.refused == ["collection"]  # signed, verified, of the same policy and key
    assert refused(collected) == f"1 release of another manifest than is listed: a.1; {AGAIN}"
    collected.collect()
    assert verdict(collected, collected.against).status is Status.PASSED


def test_releases_that_were_exchanged_are_named(collected: Several) -> None:
    out = collected.folder / "out"
    for old, new in (("a.1", "x"), ("a.2", "a.1"), ("x", "a.2")):
        (out / old).rename(out / new)
    assert "2 releases of another manifest than is listed: a.1, a.2" in refused(collected)


def test_a_renamed_release_is_missing_and_added(collected: Several) -> None:
    (collected.folder / "out" / "a.3").rename(collected.folder / "out" / "a.4")
    reason = refused(collected)
    assert "listed and not there: a.3" in reason and "there and not listed: a.4" in reason


def test_a_release_behind_a_link_is_refused(collected: Several) -> None:
    place = collected.folder / "out" / "a.3"
    place.rename(collected.folder / "elsewhere")
    place.symlink_to(collected.folder / "elsewhere")
    assert "1 release behind a link: a.3" in refused(collected)


def test_only_a_few_names_are_said_and_no_sign_of_a_terminal(collected: Several) -> None:
    for number in range(7):
        shutil.copytree(collected.spare, collected.folder / "out" / f"b\x1b{number}")
    reason = refused(collected)
    assert "7 releases there and not listed: a name with signs, " in reason and "and 2 more" in reason
    assert "\x1b" not in reason


def test_a_changed_page_is_refused(collected: Several) -> None:
    page = collected.folder / "out" / "report.html"
    page.write_bytes(page.read_bytes().replace(b"900", b"901"))
    assert refused(collected) == "report.html is not the page that it names: its SHA-256 is another"
    page.write_bytes(page.read_bytes() + b" ")
    assert "SHA-256 is another" in refused(collected)
    page.unlink()
    assert "must be the page that it names" in refused(collected)
    page.symlink_to("a.1/manifest.json")
    assert "got a link" in refused(collected)


def test_a_page_that_says_something_else_is_refused_although_its_digest_was_changed_too(
    collected: Several, change: Change
) -> None:
    page = collected.folder / "out" / "report.html"
    forged = page.read_bytes().replace(b"k promised", b"k Promised")
    page.write_bytes(forged)
    change(report=describe_page(forged))
    assert refused(collected) == "report.html does not say what the manifests say"
    assert "the collection is not what was signed" in refused(collected, collected.against)


def test_of_another_version_only_the_digest_of_the_page_is_compared(
    collected: Several, change: Change
) -> None:
    change(anon_pipeline="0.1.9")
    assert "another version made report.html" in str(verdict(collected).reason)
    (collected.folder / "out" / "report.html").write_text("x")
    assert "SHA-256 is another" in refused(collected)


@pytest.mark.parametrize("key", ["policies", "records", "released", "classes", "smallest", "shared"])
def test_changed_sums_are_refused(collected: Several, change: Change, key: str) -> None:
    document = json.loads((collected.folder / "out" / "collection.json").read_text())
    change(together=document["together"] | {key: document["together"][key] + 1})
    assert "its sums are not those of the releases" in refused(collected)
    if key in ("classes", "smallest", "shared"):
        change(together=document["together"] | {key: None})
        assert "its sums are not those of the releases" in refused(collected)
    change(together=None)
    assert "its sums are not those of the releases" in refused(collected)


@pytest.mark.parametrize(
    "field", ["release", "data_digest", "policy_digest", "records", "released", "partition", "kind"]
)
def test_a_row_that_says_something_else_than_its_manifest_is_refused(
    collected: Several, change: Change, field: str
) -> None:
    parts = json.loads((collected.folder / "out" / "collection.json").read_text())["parts"]
    new = {"release": "x", "records": 1, "released": None, "partition": None, "kind": "synthetic"}
    parts[1][field] = new.get(field, "0" * 64)
    change(parts=parts)
    assert "it does not say what the manifests say of a.2" in refused(collected)


def test_another_name_and_another_word_on_the_keys_are_refused(collected: Several, change: Change) -> None:
    change(release="other")
    assert "it has another name than its releases" in refused(collected)
    change(release="small", keys_checked=False)
    assert "does not say what the manifests say" in refused(collected)


def test_signatures(collected: Several, change: Change) -> None:
    path = collected.folder / "out" / "collection.json"
    document = json.loads(path.read_text())
    other = Ed25519PrivateKey.generate()
    wrong = Against(key=other.public_key())
    assert "signed with another key than" in refused(collected, wrong)
    bare = {key: value for key, value in document.items() if key != "signature"}
    path.write_text(json.dumps(bare))
    assert refused(collected, collected.against) == "the collection is not signed"
    assert verdict(collected).reason == "it is not signed"
    path.write_text(json.dumps(sign(bare, other, "collection")))
    assert "signed with another key than" in refused(collected, collected.against)
    path.write_text(json.dumps(sign(bare, collected.key)))  # signed as a manifest would be
    assert refused(collected, collected.against) == "the collection is not what was signed"
    path.write_text(json.dumps(document | {"keys_checked": False}))
    assert "the collection is not what was signed" in refused(collected, collected.against)


def test_a_malformed_collection_is_a_verdict(collected: Several) -> None:
    path = collected.folder / "out" / "collection.json"
    path.write_text("{")
    assert "must be JSON" in refused(collected)
    path.unlink()
    path.symlink_to("a.1/manifest.json")
    assert refused(collected) == "collection.json must be a plain file, got a link"


def test_of_a_refused_release_the_sums_are_not_compared(collected: Several) -> None:
    next((collected.folder / "out" / "a.2").glob("*.parquet")).write_bytes(b"other")
    found = verify_collection(collected.folder / "out", Against())
    assert found.refused == ["a.2"]
    assert found.collection is not None and "sums were not compared" in str(found.collection.reason)


def test_a_manifest_that_is_none_is_refused_by_both(collected: Several) -> None:
    (collected.folder / "out" / "a.2" / "manifest.json").write_text("{}")
    found = verify_collection(collected.folder / "out", Against())
    assert found.refused == ["a.2", "collection"]


def test_a_release_that_is_replaced_while_the_page_is_made_again(
    collected: Several, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*_: Any) -> bytes:
        raise InputError("a.1 was made again meanwhile.")

    monkeypatch.setattr(collection_check, "report_on_collection", replace)
    assert refused(collected) == "a.1 was made again meanwhile."


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each leaf of a document, and the keys that lead to it."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in below:
        yield from leaves(inner, (*at, key))
    if not isinstance(value, (dict, list)):
        yield at, value


def another(value: Any) -> Any:
    """Return another plausible value of the same kind."""
    if isinstance(value, bool) or value is None:
        return "synthetic" if value is None else not value
    if isinstance(value, int):
        return value + 1
    return ("1" if value[0] != "1" else "2") + value[1:]


def test_no_leaf_can_be_changed(collected: Several) -> None:
    out = collected.folder / "out"
    found = verify_together(out, Against())
    path = out / "collection.json"
    whole = json.loads(path.read_text())
    open_ones = list[str]()
    for at, value in leaves(whole):
        document = json.loads(json.dumps(whole))
        place = document
        for key in at[:-1]:
            place = place[key]
        place[at[-1]] = another(value)
        path.write_text(json.dumps(document))
        signed = check_collection(out, found, collected.key.public_key())
        assert signed.status is Status.REFUSED, at
        if check_collection(out, found, None).status is not Status.REFUSED:
            open_ones.append(".".join(map(str, at)))
    assert open_ones == ["anon_pipeline", "signature.key_id", "signature.value"]  # what nothing else says


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(KEYS_OF_DOCUMENT) | st.text(max_size=3), inner, max_size=9)
        ),
        max_leaves=30,
    )
)
@settings(max_examples=examples_of(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_a_verdict(tmp_path: Path, document: object) -> None:
    (tmp_path / "collection.json").write_text(json.dumps(document))
    found = check_collection(tmp_path, NOTHING, None)
    assert (found.limit, found.status) == ("collection", Status.REFUSED)
