"""Catalogs of Apache Iceberg: the environment says where they are, and what their library says is withheld.

The library also looks for a file with catalogs, in the home and in the current folder. It is not asked: a
file that somebody put into a project must not decide where personal data comes from, or goes to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.places import remote_problem
from anon_pipeline.catalog.extras import install_words
from anon_pipeline.sources.library_errors import hold_back_logs, withhold_errors
from anon_pipeline.sources.sql import database_url

_LIBRARY = "pyiceberg"
_VARIABLES = "pyiceberg_catalog__"


@contextmanager
def open_catalog(name: str, key: str, *, mode: Literal["ro", "rw"]) -> Iterator[Any]:
    """Open a catalog; log records and warnings of its library are held back, which name places.

    Args:
        name: of the catalog, in the names of variables.
        key: of the policy, for messages.
        mode: how the file of a catalog in SQLite is opened; it must be there.
    Raises:
        InputError: no variable for it, the extra is not installed, or it cannot be reached.
    """
    settings = _settings(name, key)
    try:
        import pyiceberg.catalog as library  # noqa: PLC0415 - it takes half a second
    except ModuleNotFoundError:
        library = None
    if library is None:
        raise InputError(f"{key}: a package must be installed for Iceberg: {install_words(_LIBRARY)}")
    with hold_back_logs(_LIBRARY):
        with withhold_errors(f"{key}.catalog: the catalog must be reachable, and accept its credentials"):
            catalog = _load(library, name, settings, mode)
        try:
            yield catalog
        finally:
            catalog.close()


def _settings(name: str, key: str) -> Mapping[str, str]:
    """Return what the environment says of a catalog, by the names that the library has for it.

    Raises:
        InputError: nothing; or a catalog that is asked in the clear.
    """
    own, found = name.lower().replace("_", "-"), dict[str, str]()
    for variable, value in os.environ.items():
        if value and variable.lower().startswith(_VARIABLES):
            owner, _, setting = variable.lower()[len(_VARIABLES) :].partition("__")
            if setting and owner.replace("_", "-") == own:
                found[setting.replace("__", ".").replace("_", "-")] = value
    if not found:
        wanted = f"{_VARIABLES}{name.replace('-', '_')}__uri".upper()
        raise InputError(
            f"{key}.catalog: the environment must say where the catalog is: {wanted} is not set, nor is "
            f"another variable of this catalog"
        )
    uri = found.get("uri", "")
    if uri.startswith("http"):
        problem = remote_problem(f"{uri.rstrip('/')}/", secret=True, kinds=("https", "http"))
        if problem:
            raise InputError(f"{key}.catalog: its address {problem}")
    return found


def _load(library: Any, name: str, settings: Mapping[str, str], mode: Literal["ro", "rw"]) -> Any:
    kinds = library.CatalogType
    kind = (
        kinds(settings["type"].lower())
        if "type" in settings
        else library.infer_catalog_type(name, dict(settings))
    )
    own = dict(settings)
    if kind is kinds.SQL:  # its tables are the catalog: without them there is none
        url = database_url(own["uri"], mode).render_as_string(hide_password=False)
        own |= {"uri": url, "init_catalog_tables": "false"}
    return library.AVAILABLE_CATALOGS[kind](name, own)


def table_in(catalog: Any, path: Sequence[str], key: str) -> Any:
    """Return a table of a catalog, as it is now.

    Raises:
        InputError: it is not there, or cannot be read.
    """
    table = find_table(catalog, path, key)
    if table is None:
        raise InputError(f"{key}.table: must be a table of the catalog, got none of this name")
    return table


def find_table(catalog: Any, path: Sequence[str], key: str) -> Any:
    """Return a table of a catalog, as it is now; None: it is not there.

    Raises:
        InputError: the catalog does not answer, or the table's metadata cannot be read.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError  # noqa: PLC0415

    with withhold_errors(f"{key}.table: the catalog must answer, and the table's metadata be readable"):
        try:
            return catalog.load_table(tuple(path))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None
