"""A collection is written last, whole, and only of releases that all verify."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.collection import collection_writer
from anon_pipeline.publish.collection.collection_check import verify_collection
from anon_pipeline.publish.collection.collection_writer import collect_releases
from anon_pipeline.publish.lock import hold_folder
from anon_pipeline.publish.verify.verify import Against
from anon_pipeline.publish.whole_chain import make_release
from tests.conftest import ROOT
from tests.publish.collection.conftest import KEYS, Several


def files(several: Several) -> list[str]:
    return sorted(path.name for path in (several.folder / "out").iterdir() if path.is_file())


def test_it_writes_two_files_and_leaves_nothing_else(several: Several) -> None:
    several.collect()
    assert files(several) == ["collection.json", "report.html"]
    assert {(several.folder / "out" / name).stat().st_mode & 0o777 for name in files(several)} == {0o644}


def test_a_refused_release_or_a_missing_partition_writes_nothing(several: Several) -> None:
    out = several.folder / "out"
    shutil.rmtree(out / "a.3")
    made = collect_releases(out, Against(several.policy, several.folder))
    assert (made.document, made.found.refused, files(several)) == (None, ["partitions"], [])
    next((out / "a.2").glob("*.parquet")).write_bytes(b"other")
    made = collect_releases(out, Against())
    assert (made.document, made.found.refused, files(several)) == (None, ["a.2"], [])


def test_without_a_policy_a_missing_partition_is_not_known(several: Several) -> None:
    shutil.rmtree(several.folder / "out" / "a.3")
    made = collect_releases(several.folder / "out", Against())
    assert made.document is not None
    assert (made.document["keys_checked"], len(made.document["parts"])) == (False, 2)
    assert "signature" not in made.document


def test_a_collection_is_not_replaced_by_a_smaller_one_without_a_policy(several: Several) -> None:
    out = several.folder / "out"
    assert collect_releases(out, Against()).document is not None
    before = (out / "collection.json").read_bytes()
    shutil.rmtree(out / "a.3")
    with pytest.raises(InputError, match="lists releases that are not there, 1 of 3"):
        collect_releases(out, Against())
    assert (out / "collection.json").read_bytes() == before
    (out / "collection.json").unlink()
    assert collect_releases(out, Against()).document is not None


def test_a_signed_collection_is_not_replaced_by_one_that_is_not(collected: Several) -> None:
    before = (collected.folder / "out" / "collection.json").read_bytes()
    with pytest.raises(InputError, match="is signed, and would be replaced"):
        collect_releases(collected.folder / "out", Against(collected.policy, collected.folder))
    assert (collected.folder / "out" / "collection.json").read_bytes() == before


def test_only_releases_that_the_key_has_signed_are_signed(several: Several) -> None:
    made = collect_releases(several.folder / "out", Against(), key=Ed25519PrivateKey.generate())
    assert (made.document, made.found.refused) == (None, [*KEYS])
    assert files(several) == []


def test_links_are_not_collected(several: Several) -> None:
    place = several.folder / "out" / "a.3"
    place.rename(several.folder / "elsewhere")
    place.symlink_to(several.folder / "elsewhere")
    with pytest.raises(InputError, match="must not be links, 1 are"):
        several.collect()
    assert files(several) == []


@pytest.mark.parametrize("name", ["collection.json", "report.html"])
def test_files_of_others_are_not_replaced(several: Several, name: str) -> None:
    path = several.folder / "out" / name
    for text in ("{}", "<html>my own</html>", "[]"):
        path.write_text(text)
        with pytest.raises(InputError, match=f"{name} in the folder is not of anon-pipeline collect"):
            several.collect()
        assert path.read_text() == text
    path.unlink()
    path.symlink_to(several.folder / "city.csv")
    with pytest.raises(InputError, match="Move it away"):
        several.collect()
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="Move it away"):
        several.collect()


def test_a_damaged_collection_of_ours_is_replaced(collected: Several) -> None:
    path = collected.folder / "out" / "collection.json"
    whole = path.read_bytes()
    path.write_text('{"collection_version": 7}')
    collected.collect()
    assert path.read_bytes() == whole


def test_the_document_is_written_last(several: Several) -> None:
    steps = list[str]()
    with use_disk(Disk(at=steps.append)):
        several.collect()
    renamed = [step for step in steps if step.startswith("after rename")]
    assert renamed == ["after rename report", "after rename collection"]


def test_an_interruption_between_the_two_is_noticed_and_mended(collected: Several) -> None:
    out = collected.folder / "out"
    shutil.rmtree(out / "a.1")
    shutil.copytree(collected.spare, out / "a.1")

    def stop(point: str) -> None:
        if point == "before rename collection":
            raise KeyboardInterrupt

    with use_disk(Disk(at=stop)), pytest.raises(KeyboardInterrupt):
        collected.collect()
    assert files(collected) == ["collection.json", "report.html"]
    assert verify_collection(out, collected.against).refused == ["collection"]
    collected.collect()
    assert verify_collection(out, collected.against).refused == []


def test_another_process_is_waited_for(several: Several, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection_writer, "_WAIT", 0.0)
    with hold_folder(several.folder / "out", wait=0), pytest.raises(PublishError, match="held by"):
        several.collect()


def test_a_folder_without_several_releases_is_refused(several: Several) -> None:
    for folder in (several.folder / "out" / "a.1", several.folder / "nothing", several.folder / "city.csv"):
        said = "must hold folders of releases" if folder.is_dir() else "must be there, got none"
        with pytest.raises(InputError, match=said):
            collect_releases(folder, Against())


def test_publishing_next_to_a_collection_changes_and_breaks_nothing(collected: Several) -> None:
    out = collected.folder / "out"
    before = {name: (out / name).read_bytes() for name in files(collected)}
    locations = Locations.of(collected.folder, {})
    make_release(collected.policy, locations, partition="a.2")
    assert {name: (out / name).read_bytes() for name in files(collected)} == before
    found = verify_collection(out, collected.against)
    assert found.refused == ["collection"]  # the release itself verifies
    assert "run anon-pipeline collect again" in str(found.collection and found.collection.reason)
    manifest = json.loads((out / "a.2" / "manifest.json").read_text())
    assert collected.collect()["parts"][1]["data_digest"] == manifest["data_digest"]


def test_releases_of_version_1_are_collected_without_what_they_reveal_too_much(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests/publish/version_1/noisy/out", tmp_path / "old")
    made = collect_releases(tmp_path, Against())
    assert made.document is not None and made.document["together"]["classes"] is None  # no policy, no classes
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    [exact] = [one["value"] for one in manifest["gate"]["verdicts"] if one["limit"] == "linking_risk"]
    assert exact is not None and f"{exact:.6g}" not in (tmp_path / "report.html").read_text()
    assert verify_collection(tmp_path, Against()).refused == []
