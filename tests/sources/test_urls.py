"""Files and folders elsewhere: object stores and a web server, real ones; one version, nothing quoted."""

from __future__ import annotations

import gzip
import io
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.sources import read_source
from anon_pipeline.sources.portions import read_portions
from anon_pipeline.sources.urls import Place
from tests.sources.in_portions import read_in_portions
from tests.sources.test_sources import policy

CANARY = "Quillfeather-4711"
CSV = b"q,x\n007,1.5\n8,2\n"


@pytest.fixture
def memory() -> Iterator[Any]:
    """A place in memory, reached by the interface of fsspec, as object stores are."""
    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def refused(how: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        how()
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def parquet(**columns: Any) -> bytes:
    made = io.BytesIO()
    pd.DataFrame(columns).to_parquet(made, index=False)
    return made.getvalue()


def filesystem(url: str) -> Any:
    return fsspec.filesystem(url.partition("://")[0])


def test_a_file_in_an_object_store(bucket: str) -> None:
    fs = filesystem(bucket)
    for name, data in {"a.csv": CSV, "b.csv.gz": gzip.compress(CSV)}.items():
        fs.pipe_file(f"{bucket}/{name}", data)
        assert read_source(policy(url=f"{bucket}/{name}"))["q"].tolist() == ["007", "8"]
    fs.pipe_file(f"{bucket}/2026-01-05.csv", CSV)
    parts = policy(url=bucket + "/{partition}.csv")
    assert len(read_source(parts, partition="2026-01-05")) == 2
    assert "source.url: {partition} must be filled in" in refused(lambda: read_source(parts))
    said = refused(lambda: read_source(parts, partition="2026-01-06"))
    assert said == "source.url: must be readable at its place: it is not there"


def test_a_folder_in_an_object_store(bucket: str) -> None:
    fs = filesystem(bucket)
    for inside in ("month=01/a.parquet", "month=02/b.parquet", "_SUCCESS", ".hidden/c"):
        fs.pipe_file(f"{bucket}/people/{inside}", parquet(q=["007"]))
    frame = read_source(policy(url=f"{bucket}/people", format="parquet"))
    assert frame.to_dict("list") == {"q": ["007", "007"], "month": ["01", "02"]}
    assert read_source(policy(url=f"{bucket}/people/", format="parquet")).equals(frame)


def test_the_version_of_a_place_changes_with_its_files(bucket: str) -> None:
    fs = filesystem(bucket)
    one, folder = Place.at(f"{bucket}/a.csv", "source.url"), Place.at(f"{bucket}/people", "source.url")
    assert "it is not there" in refused(one.version)
    for name in ("a.csv", "people/month=01/a.csv", "people/_SUCCESS"):
        fs.pipe_file(f"{bucket}/{name}", CSV)
    before = (one.version(), folder.version())
    assert (one.version(), folder.version()) == before
    fs.pipe_file(f"{bucket}/people/.hidden", CSV)
    assert folder.version() == before[1]
    fs.pipe_file(f"{bucket}/a.csv", CSV + CSV[4:])
    fs.pipe_file(f"{bucket}/people/month=02/b.csv", CSV)
    after = (one.version(), folder.version())
    assert not {*after} & {*before}
    assert all(set(version) <= set("0123456789abcdef") for version in after)


def test_an_object_that_changes_meanwhile_is_refused(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size stays; its ETag, version or generation does not."""
    fs, whole = filesystem(bucket), Place.read_bytes
    fs.pipe_file(f"{bucket}/a.csv", CSV)

    def meanwhile(self: Place, *given: Any) -> bytes:
        data = whole(self, *given)
        fs.pipe_file(f"{bucket}/a.csv", CSV.replace(b"8", b"9"))
        return data

    with monkeypatch.context() as patch:
        patch.setattr(Place, "read_bytes", meanwhile)
        said = refused(lambda: read_source(policy(url=f"{bucket}/a.csv")))
    assert said.startswith("source.url: must not change while it is read")
    assert read_source(policy(url=f"{bucket}/a.csv"))["q"].tolist() == ["007", "9"]


def test_a_folder_to_which_files_come_meanwhile_is_refused(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs, whole = filesystem(bucket), Place.read_bytes
    fs.pipe_file(f"{bucket}/people/a.parquet", parquet(q=["007"]))

    def meanwhile(self: Place, *given: Any) -> bytes:
        fs.pipe_file(f"{bucket}/people/b.parquet", parquet(q=["8"]))
        return whole(self, *given)

    monkeypatch.setattr(Place, "read_bytes", meanwhile)
    said = refused(lambda: read_source(policy(url=f"{bucket}/people", format="parquet")))
    assert said.startswith("source.url: must not change while it is read")


def test_credentials_that_s3_refuses_are_not_repeated(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{CANARY}:{CANARY}@127.0.0.1:1")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    assert refused(lambda: read_source(policy(url=f"{s3}/a.csv"))).startswith("source.url: must be readable")
    fsspec.get_filesystem_class("s3").clear_instance_cache()


class _Web(BaseHTTPRequestHandler):
    """A web server that wants a token, with or without sizes and versions."""

    token: ClassVar[str] = ""
    plain: ClassVar[bool] = True

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        if self.token and f"token={self.token}" not in self.path:
            self.send_error(403, f"not {self.path}")
            return
        self.send_response(200)
        if self.plain:
            self.send_header("Content-Length", str(len(CSV)))
            self.send_header("ETag", '"1"')
        self.end_headers()
        if body:
            self.wfile.write(CSV)

    def log_message(self, *given: Any) -> None:
        """Be quiet."""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """URL of a server on this machine, the only one that http:// is for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("plain", [True, False])
def test_a_file_of_a_web_server(web: str, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Web, "plain", plain)
    assert read_source(policy(url=f"{web}/a.csv"))["q"].tolist() == ["007", "8"]
    small = policy(url=f"{web}/a.csv", limits={"file_bytes": 10})
    assert "must keep the limit file_bytes (10)" in refused(lambda: read_source(small))


def test_a_url_with_a_token_comes_from_the_environment(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Web, "token", CANARY)
    monkeypatch.setenv("SIGNED_URL", f"{web}/a.csv?token={CANARY}")
    assert len(read_source(policy(url_env="SIGNED_URL"))) == 2
    monkeypatch.setenv("SIGNED_URL", f"{web}/a.csv?token={CANARY}-wrong")
    monkeypatch.setattr(_Web, "token", "another")
    assert refused(lambda: read_source(policy(url_env="SIGNED_URL"))).startswith(
        "source.url_env: must be readable at its place"
    )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "the environment variable SIGNED_URL is not set: it must hold a URL"),
        (f"/etc/{CANARY}", "must be a URL that begins with s3://"),
        (f"file:///etc/{CANARY}", "must be a URL that begins with s3://"),
        (f"simplecache::https://{CANARY}/a", "must be a URL that begins with s3://"),
        (f"http://{CANARY}/a.csv", "must be https://: personal data must not travel in the clear"),
        (f"https://{CANARY}/{{partition}}", "{partition} must be filled in"),
    ],
)
def test_urls_of_the_environment_that_are_refused(
    url: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNED_URL", url)
    assert message in refused(lambda: read_source(policy(url_env="SIGNED_URL")))


def test_any_other_place_is_reached_by_the_same_interface(memory: Any) -> None:
    memory.pipe_file("/bank/a.csv", CSV)
    memory.pipe_file("/bank/people/k=1/b.parquet", parquet(q=["007"]))
    assert len(read_source(policy(url="memory://bank/a.csv"))) == 2
    folder = policy(url="memory://bank/people", format="parquet")
    assert read_source(folder).to_dict("list") == {"q": ["007"], "k": ["1"]}
    empty = policy(url="memory://bank/none", format="parquet")
    assert "it is not there" in refused(lambda: read_source(empty))


def test_a_malformed_cell_is_not_quoted(memory: Any) -> None:
    memory.pipe_file(f"/bank/{CANARY}.csv", f"q,x\n{CANARY},1,2\n".encode())
    said = refused(lambda: read_source(policy(url=f"memory://bank/{CANARY}.csv")))
    assert said == "source.url: every line must have 2 fields, got 1 line with more or fewer"


@pytest.mark.parametrize(("kind", "package"), [("gs", "gcsfs"), ("az", "adlfs"), ("s3", "s3fs")])
def test_a_missing_package_is_named_with_its_extra(
    kind: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, kind, raising=False)
    said = refused(lambda: Place.at(f"{kind}://bank/a", "source.url"))
    words = f'pip install "anon-pipeline[{kind}]"'
    assert said == f"source.url: a package must be installed to read this URL: {words}"


def test_nothing_is_left_on_the_disk(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    fsspec.filesystem("s3").pipe_file(f"{s3}/a.csv.gz", gzip.compress(CSV))
    read_source(policy(url=f"{s3}/a.csv.gz"))
    assert list(tmp_path.rglob("*")) == []


def test_in_portions_a_file_of_a_folder_is_held_at_a_time(memory: Any) -> None:
    url = "memory://people"
    for inside in ("month=01/a.parquet", "month=02/b.parquet"):
        memory.pipe_file(f"/people/{inside}", parquet(q=["007", "8"], x=[0.5, None]))
    found, many = read_in_portions(policy(url=url, format="parquet"))
    assert many == 2
    pd.testing.assert_frame_equal(found, read_source(policy(url=url, format="parquet")))
    memory.pipe_file("/people/month=02/b.parquet", parquet(q=["7"]))
    assert "columns and types of the first" in refused(
        lambda: read_in_portions(policy(url=url, format="parquet"))
    )


def test_in_portions_files_of_any_format(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/a.csv.gz", gzip.compress(CSV))
    found, _ = read_in_portions(policy(url="memory://a.csv.gz"))
    pd.testing.assert_frame_equal(found, read_source(policy(url="memory://a.csv.gz")))
    monkeypatch.setenv("OWN_URL", "memory://a.csv.gz")
    found, _ = read_in_portions(policy(url_env="OWN_URL"))
    assert found["q"].tolist() == ["007", "8"]


def test_in_portions_a_folder_must_not_change(memory: Any) -> None:
    for name in "ab":
        memory.pipe_file(f"/people/{name}.parquet", parquet(q=["007"]))
    tables = read_portions(policy(url="memory://people", format="parquet"), folder=Path())
    next(tables)
    memory.pipe_file("/people/c.parquet", parquet(q=["007"]))
    assert "must not change while it is read" in refused(lambda: list(tables))
