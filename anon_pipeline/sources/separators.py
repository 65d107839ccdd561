"""A CSV file that is read with another separator than it was written with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held

_SEPARATORS = (";", "\t", "|", ",")


def refuse_other_separator(
    path: Path | Held, names: Sequence[str], record: Sequence[str], separator: str
) -> None:
    """Refuse a file of one column whose header and first record have another separator, equally often.

    Args:
        names: fields of the header.
        record: fields of the first record; nothing where there is none.
        separator: that the file is read with.
    Raises:
        InputError: naming both separators, and what to write.
    """
    if len(names) != 1:
        return
    first, by = separator.join(record), json.dumps(separator)
    for other in (one for one in _SEPARATORS if one != separator and one in names[0]):
        if not record or first.count(other) == names[0].count(other):
            looks = json.dumps(other)
            raise InputError(
                f"{path.name}: must have more than one column, got one by {by}; it looks separated by "
                f"{looks}. Write options: {{sep: {looks}}} next to its path, as in source: {{path: …, "
                f"options: {{sep: {looks}}}}}."
            )
