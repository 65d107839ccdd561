"""The vault: where the private tables between the stages are kept.

Parquet with the types kept and the facts in the file's own metadata; folders 0700, files 0600, whatever the
umask; a table replaces the one before in one rename; nothing of it in Dagster's metadata but counts.
Belongs here: the IO manager. Does not belong here: what is in a table.
"""

import io
import json
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.disk import clear_parts, replace_file
from anon_pipeline.errors import InputError, in_words, private_stage
from anon_pipeline.pipeline import Staged
from anon_pipeline.publish.lock import alone

__all__ = ["VaultIOManager", "read_staged", "write_staged"]

_FACTS = b"anon_pipeline.facts"


class VaultIOManager(dg.ConfigurableIOManager):
    """Keeps private tables below one folder that only its owner can read."""

    folder: str

    def handle_output(self, context: dg.OutputContext, obj: Staged) -> None:
        """Store a table; Dagster learns how many records and columns it has."""
        with private_stage("vault"):
            write_staged(self._path(context), obj)
        context.add_output_metadata(
            {"stored_records": len(obj.frame), "stored_columns": len(obj.frame.columns)}
        )

    def load_input(self, context: dg.InputContext) -> Staged:
        """Load a table.

        Raises:
            InputError: it is not in the vault, or cannot be read.
        """
        with private_stage("vault"):
            return read_staged(self._path(context))

    def _path(self, context: dg.InputContext | dg.OutputContext) -> Path:
        parts = [*context.asset_key.path]
        if context.has_asset_partitions:
            parts.append(context.asset_partition_key)
        return Path(self.folder).joinpath(*parts).with_suffix(".parquet")


def write_staged(path: Path, staged: Staged) -> None:
    """Write a table and its facts: folders 0700, file 0600, in one rename.

    Args:
        path: of the Parquet file, in a vault.
        staged: (n, columns) table and facts.
    """
    table = pa.Table.from_pandas(staged.frame, preserve_index=False)
    facts = json.dumps(staged.facts).encode()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _FACTS: facts})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    _private_folder(path.parent)
    with alone(path.parent):
        clear_parts(path.parent)  # of runs that died: private tables
        replace_file(path, buffer.getbuffer(), mode=0o600, what="private table")


def _private_folder(folder: Path) -> None:
    """Make a folder and those above it that are not there yet, each 0700 whatever the umask."""
    if folder.is_dir():
        return
    _private_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)


def read_staged(path: Path) -> Staged:
    """Read a table and its facts.

    Args:
        path: of the Parquet file, in a vault.
    Raises:
        InputError: it is not there, or cannot be read.
    """
    name = "/".join(path.parts[-3:])
    try:
        table = pq.read_table(path, partitioning=None)
    except FileNotFoundError:
        raise InputError(f"the vault must have {name}: it is not there. Materialize it first.") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the vault's {name} must be readable: {in_words(error)}") from None
    facts = json.loads((table.schema.metadata or {}).get(_FACTS, b"{}"))
    return Staged(table.to_pandas(integer_object_nulls=True), facts)
