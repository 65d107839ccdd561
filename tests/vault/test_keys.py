"""The key comes from one place, is 32 random bytes, and is in no message."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.keys import Keys, keys_from, keys_in_file

P = "ANON_PIPELINE_VAULT"
SECRET = bytes(range(200, 232))
HEX, B64 = SECRET.hex(), base64.b64encode(SECRET).decode()
URLSAFE = base64.urlsafe_b64encode(SECRET).decode().rstrip("=")


@pytest.mark.parametrize("text", [HEX, HEX.upper(), B64, B64.rstrip("="), URLSAFE, f"  {B64}\n"])
def test_spellings_of_a_key(text: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(text)
    printing = f"{sys.executable} -c \"print('{text.strip()}')\""
    for environ in (
        {f"{P}_KEY": text},
        {f"{P}_KEY_FILE": str(tmp_path / "key")},
        {f"{P}_KEY_COMMAND": printing},
    ):
        assert keys_from(environ) == Keys(vault_key(SECRET))


def test_no_key_is_no_encryption() -> None:
    assert keys_from({}) == Keys()


def test_old_keys_are_for_reading() -> None:
    old = [os.urandom(32) for _ in range(2)]
    keys = keys_from({f"{P}_KEY": HEX, f"{P}_OLD_KEYS": ",".join(o.hex() for o in old)})
    assert keys.current == vault_key(SECRET)
    assert list(keys.readable().values()) == [vault_key(s) for s in (SECRET, *old)]


def test_other_names_of_variables() -> None:
    assert keys_from({f"{P}_KEY": "x", "CLINIC_KEY": HEX}, prefix="CLINIC") == Keys(vault_key(SECRET))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({f"{P}_KEY": HEX, f"{P}_KEY_FILE": "/x"}, f"one place, got {P}_KEY, {P}_KEY_FILE"),
        ({f"{P}_KEY": ""}, "must not be empty"),
        ({f"{P}_KEY_FILE": " "}, "must not be empty"),
        ({f"{P}_KEY": HEX[:-2]}, "32 bytes"),
        ({f"{P}_KEY": HEX + "00"}, "32 bytes"),
        ({f"{P}_KEY": "CANARY secret words"}, "32 bytes"),
        ({f"{P}_KEY": "ÄCANARY"}, "32 bytes"),
        ({f"{P}_KEY": "00" * 32}, "random bytes"),
        ({f"{P}_KEY": f"{HEX} {bytes(range(32)).hex()}"}, "must give one key, got 2"),
        ({f"{P}_KEY_FILE": "/not/there"}, "it is not there"),
        ({f"{P}_KEY_COMMAND": "/not/there CANARY"}, "it is not there"),
        ({f"{P}_KEY_COMMAND": "sh -c 'echo CANARY; echo CANARY >&2; exit 3'"}, "it ended with 3"),
        ({f"{P}_KEY_COMMAND": "echo CANARY"}, "32 bytes"),
        ({f"{P}_KEY_COMMAND": "echo 'CANARY"}, "ValueError"),
        ({f"{P}_OLD_KEYS": HEX}, f"must come with {P}_KEY"),
    ],
)
def test_what_is_wrong_is_said_without_the_key(environ: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as raised:
        keys_from(environ)
    told = f"{raised.value}{raised.value.__cause__}{raised.value.__context__}"
    assert words in str(raised.value)
    assert HEX[:8] not in told
    assert "CANARY" not in told


@pytest.mark.parametrize("prefix", [HEX, HEX.upper(), B64, "", "lower", "A" * 41])
def test_a_key_in_the_place_of_a_name_is_refused_unseen(prefix: str) -> None:
    with pytest.raises(InputError, match="names of environment variables") as raised:
        keys_from({}, prefix=prefix)
    assert not prefix or prefix not in str(raised.value)


def test_a_command_has_no_shell(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        keys_from({f"{P}_KEY_COMMAND": f"echo {HEX}x ; touch {tmp_path}/made"})
    assert not (tmp_path / "made").exists()


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_pipeline.vault.keys._SECONDS", 0.1)
    with pytest.raises(InputError, match="took longer"):
        keys_from({f"{P}_KEY_COMMAND": "sleep 60"})


def test_keys_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text(f"{HEX}\n{bytes(range(32)).hex()}\n")
    assert keys_in_file(tmp_path / "old") == (vault_key(SECRET), vault_key(bytes(range(32))))


def test_keys_show_no_secret() -> None:
    shown = repr(keys_from({f"{P}_KEY": HEX}))
    assert HEX not in shown
    assert repr(SECRET) not in shown
