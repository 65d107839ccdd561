"""A CSV file that is read with another encoding than it was written with."""

from __future__ import annotations

import codecs
from pathlib import Path

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held, open_readable

_BLOCK = 2**20
_LEAST = 100  # of 128 bytes beyond ASCII that are a letter by themselves: in an encoding of one byte


def refuse_utf8_read_otherwise(path: Path | Held, encoding: str) -> None:
    """Refuse a file in UTF-8 that is read by an encoding of one byte, as in `Ã¼` for ü.

    Any bytes are letters in such an encoding, so nothing else fails. Letters that are not in ASCII are valid
    UTF-8 by chance in hardly any text.

    Args:
        encoding: that the file is read with.
    Raises:
        InputError: naming both, and what to write.
    """
    letters_alone = (bytes([byte]).decode(encoding, "ignore") for byte in range(128, 256))
    if sum(map(bool, letters_alone)) < _LEAST:
        return
    decoder, letters = codecs.getincrementaldecoder("utf-8")(), False
    with open_readable(path) as file:
        try:
            while block := file.read(_BLOCK):
                letters |= not block.isascii()
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return
    if letters:
        raise InputError(
            f"{path.name}: must be read as UTF-8, in which its letters are written, got encoding: "
            f"{encoding}. Write options: {{encoding: utf-8}} next to its path."
        )
