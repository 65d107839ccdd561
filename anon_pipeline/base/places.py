"""Paths and URLs: which of them a text is, and that a URL is refused where a path is expected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath, PurePosixPath
from urllib.parse import unquote

LOCAL = (
    "must be a local path, got a URL (not shown, it may hold credentials). Only the vault and the ledger "
    "can be at a URL (scheme://…)."
)
"""What is said where a path is expected; it never repeats the URL."""

REMOTE = ("s3", "gs", "gcs", "az", "abfs", "abfss", "https", "http", "memory")
"""Kinds of URLs at which remote files may be; ``memory`` is for tests."""

OBJECT_STORES = tuple(kind for kind in REMOTE if not kind.startswith("http"))
"""Those at which files can be written, each at once."""

_SCHEME = re.compile(
    r"(?:^|[/\\])\s*[A-Za-z][A-Za-z0-9+.-]+:[/\\]"
)  # also s3:/bucket, as pathlib leaves s3://
_LOGIN = re.compile(r"(?:ssh|sftp|ftp|smb|hdfs|webhdfs)://[a-z0-9._-]{1,32}@[^@:]*(?::\d+)?(?:/[^@]*)?")
_SECRET = re.compile(r"(?:pass|pwd|secret|token|credential|key|sig|sas)[a-z0-9_.-]*=")
_HERE = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/")
_DECODED = 4  # times that an escape may be escaped


@dataclass(frozen=True, slots=True)
class TableUrl:
    """A table at a URL that a policy may name; messages call it by the last part of the URL.

    url: of one of the kinds in `REMOTE`, without credentials.

    >>> TableUrl("s3://bank/2026/customers.csv.gz").stem
    'customers'
    """

    url: str = field(repr=False)

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return PurePosixPath(self.url.partition("://")[2]).name

    @property
    def stem(self) -> str:
        """The name up to its first point."""
        return self.name.partition(".")[0]


def is_url(place: str) -> bool:
    """Return whether a place is a URL, as fsspec writes them, and not a path."""
    return "://" in place or "::" in place


def is_local(place: str | PurePath) -> bool:
    """Return whether a place is a path, and neither a URL nor what is left of one in a path.

    A drive's letter (``C:/``) is none.

    Args:
        place: as somebody wrote it, or made a path of it.

    >>> [is_local(place) for place in ("out/a:b", "s3://b/out", "S3:/b", "/home/s3:/b", "zip::a.zip")]
    [True, False, False, False, False]
    """
    text = str(place)
    return not is_url(text) and _SCHEME.search(text) is None


def has_credentials(url: str) -> bool:
    """Return whether a URL of a folder holds, or may hold, what only a deployment should know.

    That is a login (a user's name alone may stay where one logs in by name: ssh, sftp, ftp, smb, hdfs), a
    query or fragment (a folder has none; tokens, signatures and options of fsspec are in it), and what looks
    like ``secret=…`` anywhere; in each part of a chain, also where it is percent-encoded.

    >>> [has_credentials(f"s3://{rest}") for rest in ("b/v", "K:S@b/v", "K@b", "b/v?token=t", "K%3AS%40b")]
    [False, True, True, True, True]
    """
    return any(_tells(part) for text in _readings(url) for part in text.split("::"))


def remote_problem(url: str, *, secret: bool = False, kinds: Sequence[str] = REMOTE) -> str | None:
    """Return what is wrong with the URL of remote files; None: nothing.

    Kinds are listed: others read this machine's files (``file``, ``git``), past the folder of sources, or
    keep a copy on its disk (chains with ``::``). The text never repeats the URL.

    Args:
        secret: whether it may hold credentials: it stands in no policy.
        kinds: of URLs that are allowed.

    >>> [remote_problem(f"{url}/a.csv") is None for url in ("s3://b", "https://h", "file:///b", "http://h")]
    [True, True, False, False]
    """
    if not is_url(url) or "::" in url or url.partition("://")[0] not in kinds:
        return f"must be a URL that begins with {', '.join(f'{one}://' for one in kinds)}"
    if url.startswith("http://") and _HERE.match(url) is None:
        return "must be https://: personal data must not travel in the clear (http:// only to this machine)"
    if has_credentials(url) and not secret:
        return (
            "must not hold credentials: a login, query or token. Put them where the package of its kind "
            "looks for them (S3: AWS_ACCESS_KEY_ID, a profile), or name a variable with the URL: url_env"
        )
    return None


def has_secret_option(query: str) -> bool:
    """Return whether the options of a URL have one that looks like a secret, also percent-encoded."""
    return any(_SECRET.search(text.replace("sslkey=", "")) is not None for text in _readings(query))


def _readings(text: str) -> list[str]:
    """Return a text as it is, and with its percent-encoding undone, in small letters."""
    found = [text.lower()]
    while len(found) < _DECODED and (plain := unquote(found[-1])) != found[-1]:
        found.append(plain.lower())
    return found


def _tells(url: str) -> bool:
    scheme, _, rest = url.rpartition("://")
    host, _, path = rest.partition("/")
    login = "@" in host or ("@" in path and ":" in rest.rpartition("@")[0])
    return (
        (login and _LOGIN.fullmatch(url) is None)
        or "://" in scheme
        or any(mark in url for mark in "?#")
        or _SECRET.search(url) is not None
    )
