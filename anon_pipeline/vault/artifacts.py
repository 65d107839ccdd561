"""A vault: a store and its keys. With a key only sealed files are read, without one only plain ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.vault.crypto import HEADER, Sealer, key_id_of, rewrap, unseal
from anon_pipeline.vault.encryption import close_journal, encrypt_file, read_journal, write_journal
from anon_pipeline.vault.keys import Keys, keys_from
from anon_pipeline.vault.names import SEALED, is_artifact, is_unfinished
from anon_pipeline.vault.store import Store, store_at


@dataclass(frozen=True, slots=True)
class Vault:
    """Artifacts by name, sealed if there is a key."""

    store: Store
    keys: Keys = field(default_factory=Keys)

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Open an artifact for writing: it appears complete at the end, or not at all."""
        if self.keys.current is not None and not self.store.exists(SEALED):
            self.store.read_or_create(SEALED, b"sealed\n")
        with self.store.writing(name) as target:
            if self.keys.current is None:
                yield target
                return
            sealer = Sealer(target, self.keys.current, name)
            yield cast(BinaryIO, sealer)
            sealer.finish()

    def read(self, name: str) -> memoryview:
        """Read an artifact whole: all of it is authenticated before any of it is used.

        Raises:
            InputError: it is not there; it is sealed and there is no key, or the reverse; it has changed.
        """
        try:
            with self.store.reading(name) as source:
                return self._plain(source, name)
        except FileNotFoundError:
            pass
        raise InputError(
            f"the vault does not have {name}. In Dagster, materialize the stage again (vault.retain may have "
            "deleted its table). `anon-pipeline run` keeps no private tables: for the internal report use "
            "`run --internal-report FILE`, which makes the release again: new noise costs ε again."
        )

    def _plain(self, source: BinaryIO, name: str) -> memoryview:
        sealed = key_id_of(source.read(HEADER)) is not None
        source.seek(0)
        if self.keys.current is None:
            if sealed:
                raise InputError(
                    f"the vault's {name} is encrypted and there is no key. Set ANON_PIPELINE_VAULT_KEY, "
                    f"ANON_PIPELINE_VAULT_KEY_FILE or ANON_PIPELINE_VAULT_KEY_COMMAND."
                )
            return memoryview(source.read())
        if not sealed:
            raise InputError(
                f"the vault's {name} is not encrypted, but a vault key is set. If you began this vault "
                f"without a key, run anon-pipeline vault rotate. If not, materialize it again, and find out "
                f"who can write to the vault."
            )
        plain = bytearray()
        for chunk in unseal(source, name, self.keys.readable()):
            plain += chunk
        return memoryview(plain)


@dataclass(frozen=True, slots=True)
class Survey:
    """What is in a vault, in numbers.

    sealed: artifacts by the id of their key.
    plain: tables and keys of draws that are not encrypted.
    unfinished: what crashes left.
    other: files that are none of the vault's.
    """

    sealed: dict[str, int]
    plain: int
    unfinished: int
    other: int


def survey(store: Store) -> Survey:
    """Count the artifacts of a vault; needs no key."""
    kinds = Counter(kind for name in store.names() if (kind := _kind(store, name)) is not None)
    plain, unfinished, other = (kinds.pop(kind, 0) for kind in ("plain", "unfinished", "other"))
    return Survey(dict(sorted(kinds.items())), plain, unfinished, other)


def _kind(store: Store, name: str) -> str | None:
    """Return the id of an artifact's key, or what it is without one; None if it has gone meanwhile."""
    if is_unfinished(name):
        return "unfinished"
    try:
        with store.reading(name) as source:
            sealed = key_id_of(source.read(HEADER))
    except FileNotFoundError:
        return None
    return sealed or ("plain" if is_artifact(name) else "other")


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation did, in artifacts.

    rewrapped: now under the new key.
    before: were so already.
    plain: not encrypted, left as they are: the vault was sealed before, and nobody vouches for them.
    refused: did not open, left as they are: of an unknown key, or changed.
    """

    rewrapped: int
    before: int
    plain: int
    refused: int
    encrypted: int = 0
    unfinished: int = 0


def rotate(vault: Vault, *, encrypt_plain: bool = False) -> Rotated:
    """Wrap every data key by the vault's current key, an artifact at a time; encrypt what is plain.

    Each is replaced in one step: interrupted, it leaves some under the old key and some under the new, all
    readable with both, and the next call does the rest.

    Args:
        encrypt_plain: whether plain artifacts are encrypted although the vault was written with a key before;
            in one that never was they are.
    Raises:
        InputError: there is no key.
    """
    current = vault.keys.current
    if current is None:
        raise InputError(
            "a rotation must have a key to rotate to: set ANON_PIPELINE_VAULT_KEY… to the new one."
        )
    store = vault.store
    kinds = {name: kind for name in store.names() if (kind := _kind(store, name)) is not None}
    sealed = {name: kind for name, kind in kinds.items() if kind not in ("plain", "unfinished", "other")}
    plain = [name for name, kind in kinds.items() if kind == "plain"]
    anew = encrypt_plain or not (sealed or store.exists(SEALED))
    listed = (
        write_journal(store, plain, current) if plain and anew else read_journal(store, vault.keys.readable())
    )
    store.read_or_create(SEALED, b"sealed\n")
    done = Counter("before" if kind == current.id else _rewrap(vault, n) for n, kind in sealed.items())
    count = sum(encrypt_file(store, n, digest=listed[n], key=current) for n in plain if n in listed)
    store.clear_unfinished()
    left = Counter(_kind(store, name) for name in store.names())
    close_journal(store)
    return Rotated(
        done["rewrapped"], done["before"], left["plain"], done["refused"], count, left["unfinished"]
    )


def _rewrap(vault: Vault, name: str) -> str:
    """Wrap one artifact's data key anew; say what came of it."""
    assert vault.keys.current is not None  # noqa: S101 - `rotate` has asked
    try:
        with vault.store.open_replacement(name) as (source, target):
            rewrap(source, target, name, keys=vault.keys.readable(), to=vault.keys.current)
    except FileNotFoundError:
        return "gone"
    except InputError:
        return "refused"
    return "rewrapped"


def vault_of(locations: Locations) -> Vault:
    """Open the vault of a project, with the keys that the environment leads to now."""
    return Vault(store_at(locations.vault_place), keys_from())
