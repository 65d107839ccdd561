"""Removing, masking and hashing identifiers, and where the key comes from."""

from __future__ import annotations

import hashlib
import hmac
import os
import traceback
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.sections import Deidentify
from anon_pipeline.stages.deidentify import MASKED, deidentify, hash_column, mask_column, read_key

KEY = b"0123456789abcdef"


def by_hand(key: bytes, message: bytes) -> str:
    """RFC 2104, from the definition: H(K ⊕ opad, H(K ⊕ ipad, message)), for keys of at most 64 bytes."""
    padded = key.ljust(64, b"\x00")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).hexdigest()


def policy(**actions: str) -> Policy:
    columns: dict[str, Any] = {
        name: {"role": "identifier", "action": action} for name, action in actions.items()
    }
    return policy_from(
        {
            "name": "clinic",
            "source": {"generate": "patients"},
            "columns": {**columns, "q": {"role": "generalize", "hierarchy": {"suppress": True}}},
            "deidentify": {"key_env": "K"},
            "anonymize": {"k": 2},
        }
    )


def test_each_action() -> None:
    frame = pd.DataFrame(
        {"_record_id": [1, 2], "a": ["x", None], "b": ["y", None], "c": ["z", None], "q": ["u", "v"]}
    )
    before = frame.copy(deep=True)
    out = deidentify(frame, policy(a="drop", b="mask", c="hash"), key=KEY)
    assert list(out.columns) == ["_record_id", "b", "c", "q"]
    assert out["b"].tolist()[0] == MASKED
    assert out["c"].tolist()[0] == by_hand(KEY, b"z")
    assert out[["b", "c"]].isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert out["q"].tolist() == ["u", "v"]
    pd.testing.assert_frame_equal(frame, before)


def test_without_identifiers_nothing_happens() -> None:
    frame = pd.DataFrame({"q": ["u"]})
    pd.testing.assert_frame_equal(deidentify(frame, policy(), key=None), frame)


def test_records_stay_beside_their_own_values_whatever_the_index() -> None:
    frame = pd.DataFrame({"c": ["x", "y", "z"], "q": ["x", "y", "z"]}, index=[2, 0, 1])
    out = deidentify(frame, policy(c="hash"), key=KEY)
    assert out["c"].tolist() == [by_hand(KEY, q.encode()) for q in out["q"]]
    repeated = pd.DataFrame({"b": ["x", None], "q": ["x", "y"]}, index=[1, 1])
    assert deidentify(repeated, policy(b="mask"), key=None)["b"].isna().tolist() == [False, True]


def test_hashing_without_a_key() -> None:
    with pytest.raises(InputError, match=r"^c: action: hash must have a key, got none"):
        deidentify(pd.DataFrame({"c": ["x"], "q": ["u"]}), policy(c="hash"), key=None)


def test_a_known_hash() -> None:
    """RFC 4231, test case 2 (key "Jefe")."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert by_hand(b"Jefe", b"what do ya want for nothing?") == expected
    assert hash_column(pd.Series(["what do ya want for nothing?"]), b"Jefe").tolist() == [expected]


@given(
    values=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=8),
    key=st.binary(min_size=16, max_size=100),
)
def test_hashes_are_hmac_sha256(values: list[str], key: bytes) -> None:
    expected = [hmac.new(key, value.encode(), hashlib.sha256).hexdigest() for value in values]
    assert hash_column(pd.Series(values, dtype="str"), key).tolist() == expected


@pytest.mark.parametrize(
    ("column", "written"),
    [
        (pd.Series([17, 2]), "17"),
        (pd.Series([17.0, None]), "17"),
        (pd.Series([17, None], dtype="Int64"), "17"),
        (pd.Series([2**60 + 1, None], dtype=object), str(2**60 + 1)),
        (pd.Series(["ß", "x"], dtype="category"), "ß"),
        (pd.Series(["017", "x"]), "017"),
    ],
)
def test_a_value_has_one_hash_whatever_holds_it(column: pd.Series, written: str) -> None:
    assert hash_column(column, KEY)[0] == by_hand(KEY, written.encode())


def test_equal_values_get_equal_hashes_and_keys_matter() -> None:
    hashes = hash_column(pd.Series(["a", "b", "a"]), KEY)
    assert hashes[0] == hashes[2] != hashes[1]
    assert hash_column(pd.Series(["a"]), KEY + b"x")[0] != hashes[0]


@pytest.mark.parametrize("dtype", ["str", "category", object])
def test_a_mask_does_not_tell_the_length(dtype: Any) -> None:
    masked = mask_column(pd.Series(["a", "a much longer text", "", None], dtype=dtype))
    assert masked.tolist()[:3] == ["***"] * 3
    assert masked.isna().tolist() == [False, False, False, True]


def test_masks_of_numbers() -> None:
    assert mask_column(pd.Series([1, 1000])).tolist() == ["***", "***"]


def test_the_key_from_the_environment() -> None:
    where = Deidentify(key_env="CLINIC_KEY")
    assert read_key(where, environ={"CLINIC_KEY": "0123456789abcdef"}) == KEY
    assert len(read_key(where, environ={"CLINIC_KEY": "ä" * 8})) == 16


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC_KEY", KEY.decode())
    assert read_key(Deidentify(key_env="CLINIC_KEY")) == KEY


def test_a_key_of_bytes_that_are_no_text() -> None:
    """As Python hands over environment variables that are not UTF-8."""
    environ = {"CLINIC_KEY": (b"\xff" * 20).decode(errors="surrogateescape")}
    assert read_key(Deidentify(key_env="CLINIC_KEY"), environ=environ) == b"\xff" * 20


def test_the_key_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_bytes(KEY + b"\r\n\n")
    assert read_key(Deidentify(key_file="secrets/key"), folder=tmp_path) == KEY
    (tmp_path / "secrets" / "key").write_bytes(b"\x00\xff" * 8 + b" ")
    assert read_key(Deidentify(key_file="secrets/key"), folder=tmp_path) == b"\x00\xff" * 8 + b" "


SHORT = "hunter2" + "hunter2x"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {},
            "deidentify: the environment variable CLINIC_KEY must hold a key of at least 16 bytes, got 0. "
            "For a new one: export CLINIC_KEY=$(openssl rand -hex 16); the same one is needed each time",
        ),
        (
            {"CLINIC_KEY": SHORT},
            "deidentify: the environment variable CLINIC_KEY must hold a key of at least 16 bytes, got 15. "
            "For a new one: export CLINIC_KEY=$(openssl rand -hex 16); the same one is needed each time",
        ),
    ],
)
def test_a_key_that_is_missing_or_short(environ: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_key(Deidentify(key_env="CLINIC_KEY"), environ=environ)
    assert str(caught.value) == message
    assert SHORT not in "".join(traceback.format_exception(caught.value))


def test_a_key_file_that_is_missing_or_short(tmp_path: Path) -> None:
    where = Deidentify(key_file="key")
    with pytest.raises(
        InputError, match=r"^deidentify: the key file must be readable: it is not there"
    ) as caught:
        read_key(where, folder=tmp_path)
    assert str(tmp_path) not in str(caught.value)
    (tmp_path / "key").write_text(SHORT + "\n")
    with pytest.raises(InputError, match=r"key file must hold a key of at least 16 bytes, got 15$") as caught:
        read_key(where, folder=tmp_path)
    assert SHORT not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(InputError, match="must be readable"):
        read_key(Deidentify.model_construct(key_env=None, key_file="a\x00b"), folder=tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="it is no plain file"):
        read_key(Deidentify(key_file="pipe"), folder=tmp_path)
    with (tmp_path / "key").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InputError, match="must have at most 65,536 bytes"):
        read_key(where, folder=tmp_path)
