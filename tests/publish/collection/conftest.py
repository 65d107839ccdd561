"""A folder with three releases of one policy, made once; each test changes a copy of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.collection.collection_writer import collect_releases
from anon_pipeline.publish.manifest.signatures import signing_key, write_keys
from anon_pipeline.publish.verify.verify import Against
from anon_pipeline.publish.whole_chain import make_release
from tests.conftest import SMALL, make_people, merged

KEYS = ("a.1", "a.2", "a.3")


@dataclass(frozen=True)
class Several:
    """A folder of releases, the policy that made them, and its key.

    spare: a valid release of the first key, made again.
    """

    folder: Path
    policy: Policy
    key: Ed25519PrivateKey
    spare: Path

    @property
    def against(self) -> Against:
        """Policy and public key."""
        return Against(self.policy, self.folder, self.key.public_key())

    def collect(self) -> dict[str, Any]:
        """Collect the releases, signed, and return the document."""
        document = collect_releases(
            self.folder / "out", Against(self.policy, self.folder), key=self.key
        ).document
        assert document is not None
        return document


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Several:
    folder = tmp_path_factory.mktemp("collection")
    write_keys(folder / "key")
    policy = policy_from(
        merged(
            SMALL,
            {
                "source": {"path": "{partition}.csv"},
                "schedule": {"partitions": "listed", "keys": [*KEYS]},
                "anonymize": {"recoder": "fixed", "levels": {"age": 2, "city": 0}},
                "publish": {"sign": {"key_file": "key"}},
            },
        )
    )
    key = signing_key(policy.publish.sign, folder=folder)
    assert key is not None
    (folder / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    for at, partition in enumerate(KEYS):
        make_people(900).iloc[at::3].to_csv(folder / f"{partition}.csv", index=False)
        make_release(policy, Locations.of(folder, {}), partition=partition)
    shutil.copytree(folder / "out" / KEYS[0], folder / "first")
    make_release(policy, Locations.of(folder, {}), partition=KEYS[0])
    shutil.move(folder / "out" / KEYS[0], folder / "spare")
    shutil.move(folder / "first", folder / "out" / KEYS[0])
    return Several(folder, policy, key, folder / "spare")


@pytest.fixture
def several(made_once: Several, tmp_path: Path) -> Several:
    """Releases that were not collected yet."""
    shutil.copytree(made_once.folder, tmp_path, dirs_exist_ok=True)
    return Several(tmp_path, made_once.policy, made_once.key, tmp_path / "spare")


@pytest.fixture
def collected(several: Several) -> Several:
    """Releases that were collected and signed."""
    several.collect()
    return several


@pytest.fixture
def change(collected: Several) -> Callable[..., None]:
    """A function that changes the collection's JSON: keys of the document, and their new values."""

    def write(**changes: Any) -> None:
        path = collected.folder / "out" / "collection.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return write
