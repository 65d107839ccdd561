"""Files that this package encrypted with the vault's key: the partitions' files of a divided table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, file_size
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.bounds import refuse_large_file
from anon_pipeline.vault.crypto import MAGIC, SealedPlace, unseal
from anon_pipeline.vault.keys import PREFIX, keys_from

_SOURCES: Final = SealedPlace("", "divide the table again", "to the folder of sources")


def unseal_file(file: Path | Held, limits: Limits) -> Path | Held:
    """Return a file as it is, or what is encrypted in it, held in memory.

    Args:
        file: its first bytes say whether it is encrypted. What was read elsewhere never is.
        limits: ``file_bytes``.
    Raises:
        InputError: no key, another key, or what was changed, cut or renamed.
    """
    if isinstance(file, Held) or not is_sealed(file):
        return file
    with withhold_text(f"{file.name}: must be a readable file", OSError):
        refuse_large_file(file, limits)
        keys = keys_from().readable()
        if not keys:
            raise InputError(
                f"{file.name} is encrypted and there is no key. Set {PREFIX}_KEY, {PREFIX}_KEY_FILE or "
                f"{PREFIX}_KEY_COMMAND to the key that the table was divided with."
            )
        with file.open("rb") as source:
            return Held(file.name, b"".join(unseal(source, file.name, keys, place=_SOURCES)))


def is_sealed(file: Path) -> bool:
    """Tell whether a file is encrypted.

    Raises:
        InputError: it cannot be read.
    """
    with withhold_text(f"{file.name}: must be a readable file", OSError):
        file_size(file)  # no pipe or device, which would be read for ever
        with file.open("rb") as opened:
            return opened.read(len(MAGIC)) == MAGIC


def refuse_plain(path: Path) -> None:
    """Refuse a file that is not encrypted where the policy says that it is: somebody may have put it there.

    Raises:
        InputError: it is not, or is a folder.
    """
    if path.is_dir() or not is_sealed(path):
        raise InputError(
            f"{path.name}: must be encrypted with the vault's key (source.encrypted), and is not. Divide the "
            "table again, and find out who can write to the folder of sources."
        )
