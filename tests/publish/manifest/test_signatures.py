"""Signed manifests: made with the policy's key, refused when anything changed, no key in any artifact."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import KEY_BYTES
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.sections import Sign
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.manifest.signatures import (
    broken_signature,
    key_id,
    read_public_key,
    sign,
    signing_key,
    write_keys,
)
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
DOCUMENT = {"release": "small", "epsilon": 0.1, "files": [{"name": "a", "size": 3}], "partition": None}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def send(policy: Policy, people: pd.DataFrame, folder: Path) -> Published:
    made = pipeline.run(policy, people, Means(Path(), None, system_entropy()))
    return publish(made.suppressed, made.k_anonymized.frame, policy, locations=Locations.of(folder, {}))


@given(st.dictionaries(st.text().filter(lambda name: name != "signature"), JSON, max_size=5))
def test_a_signature_outlives_writing_and_reading(document: dict[str, object]) -> None:
    back = json.loads(json.dumps(sign(document, KEY), indent=1, ensure_ascii=True))
    assert broken_signature(back, KEY.public_key()) is None


def test_equal_manifests_are_signed_alike_whatever_the_order_of_their_keys() -> None:
    turned = dict(reversed(DOCUMENT.items()))
    assert sign(DOCUMENT, KEY) == sign(turned, KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"release": "other"},
        {"epsilon": 0.2},
        {"epsilon": "0.1"},
        {"partition": False},
        {"more": None},
        {"files": [{"name": "a", "size": 4}]},
    ],
)
def test_any_change_breaks_the_signature(change: dict[str, object]) -> None:
    document = sign(DOCUMENT, KEY)
    assert broken_signature({**document, **change}, KEY.public_key()) == "the manifest is not what was signed"
    fewer = {name: value for name, value in document.items() if name != "partition"}
    assert broken_signature(fewer, KEY.public_key()) is not None


@pytest.mark.parametrize("odd", [None, "x", [], {}, {"value": "x"}, {"algorithm": "none"}])
def test_a_signature_that_is_none_is_refused(odd: object) -> None:
    assert broken_signature({**DOCUMENT, "signature": odd}, KEY.public_key()) is not None
    assert broken_signature(DOCUMENT, KEY.public_key()) == "the manifest is not signed"


@pytest.mark.parametrize("value", ["", "%%%", "AAAA", None, 3])
def test_a_value_that_is_no_signature_is_refused(value: object) -> None:
    document = sign(DOCUMENT, KEY)
    document["signature"]["value"] = value
    assert broken_signature(document, KEY.public_key()) == "the manifest is not what was signed"


def test_another_key_is_refused() -> None:
    other = Ed25519PrivateKey.generate().public_key()
    assert broken_signature(sign(DOCUMENT, KEY), other) == f"signed with another key than {key_id(other)}"
    forged = sign(DOCUMENT, KEY)
    forged["signature"]["key_id"] = key_id(other)
    assert broken_signature(forged, other) == "the manifest is not what was signed"


def test_keys_are_written_for_their_owner_alone_and_never_over_others(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        public = write_keys(tmp_path / "key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert public == tmp_path / "key.pub"
    text = (tmp_path / "key").read_bytes()
    key = signing_key(Sign(key_file="key"), folder=tmp_path)
    assert key is not None
    assert broken_signature(sign(DOCUMENT, key), read_public_key(public)) is None
    with pytest.raises(InputError, match="exists already"):
        write_keys(tmp_path / "key")
    public.rename(tmp_path / "other.pub")
    with pytest.raises(InputError, match="exists already"):
        write_keys(tmp_path / "other")
    assert (tmp_path / "key").read_bytes() == text
    assert not (tmp_path / "other").exists()
    with pytest.raises(InputError, match="must be a file that can be written"):
        write_keys(tmp_path / "no" / "key")


def test_keys_that_are_none_are_refused_without_telling_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rsa = generate_private_key(65537, 1024).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for odd in (b"SECRET-7f3a", b"", b"\xff", rsa):
        (tmp_path / "key").write_bytes(odd)
        with pytest.raises(InputError, match="Ed25519 private key in PEM") as raised:
            signing_key(Sign(key_file="key"), folder=tmp_path)
        assert "SECRET" not in str(raised.value)
        with pytest.raises(InputError, match="Ed25519 public key in PEM"):
            read_public_key(tmp_path / "key")
    monkeypatch.setenv("KEY", "SECRET-7f3a")
    with pytest.raises(InputError, match="key_env must be"):
        signing_key(Sign(key_env="KEY"), folder=tmp_path)
    monkeypatch.delenv("KEY")
    with pytest.raises(InputError, match="the environment must have KEY"):
        signing_key(Sign(key_env="KEY"), folder=tmp_path)
    for call in (
        lambda: signing_key(Sign(key_file="no"), folder=tmp_path),
        lambda: read_public_key(tmp_path),
    ):
        with pytest.raises(InputError, match="readable file"):
            call()
    assert signing_key(None, folder=tmp_path) is None


@pytest.mark.parametrize("where", ["key_file", "key_env"])
def test_a_signing_policy_signs_and_no_artifact_has_the_key(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    public = write_keys(tmp_path / "key")
    private = (tmp_path / "key").read_text()
    monkeypatch.setenv("KEY", private)
    policy = small_policy(publish={"sign": {where: "KEY" if where == "key_env" else "key"}})
    written = send(policy, small_people(), tmp_path)
    document = json.loads(written.manifest_path.read_text())
    assert document == json.loads(json.dumps(written.manifest))
    assert broken_signature(document, read_public_key(public)) is None
    secret = "".join(private.splitlines()[1:-1])
    for path in (tmp_path / "out").iterdir():
        assert secret[-20:].encode() not in path.read_bytes()


def test_without_its_key_a_signing_policy_publishes_nothing(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="key_file"):
        send(small_policy(publish={"sign": {"key_file": "key"}}), small_people(), tmp_path)
    assert not (tmp_path / "out").exists()


def test_the_golden_signature() -> None:
    """What is signed begins with its domain: a key's signature of another tool's JSON is none of ours."""
    text = b'{"release":"small","signature":{"algorithm":"ed25519","key_id":"56475aa75463474c"}}'
    value = "BDOc08E8RCPsZbiPgBYBXP+B774yQTM26Zig7dP1omCgYwBoWANehUKMoe8J7rVa8FcAE1l8jLJOsuHjpUwnCA=="
    document = {"release": "small"}
    assert sign(document, KEY)["signature"]["value"] == value
    KEY.public_key().verify(base64.b64decode(value), b"anon-pipeline manifest 1\n" + text)
    bare = base64.b64encode(KEY.sign(text)).decode()
    signature = {"algorithm": "ed25519", "key_id": key_id(KEY.public_key()), "value": bare}
    assert broken_signature({**document, "signature": signature}, KEY.public_key()) is not None


def test_keys_are_read_from_plain_files_that_are_small(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (KEY_BYTES + 1))
    for call in (
        lambda name: signing_key(Sign(key_file=name), folder=tmp_path),
        lambda name: read_public_key(tmp_path / name),
    ):
        with pytest.raises(InputError, match="must be a readable file"):
            call("/dev/zero")
        with pytest.raises(InputError, match="Ed25519"):
            call("large")
    with pytest.raises(ValueError, match="control characters"):
        Sign(key_file="key\n")


def test_a_signing_key_outside_of_the_project(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    write_keys(tmp_path / "key")
    for name in ("../key", str(tmp_path / "key"), "/dev/zero"):
        with pytest.raises(
            InputError, match=r"publish\.sign\.key_file: must stay within the folder of sources"
        ):
            send(small_policy(publish={"sign": {"key_file": name}}), small_people(), project)
    assert list(project.iterdir()) == []
