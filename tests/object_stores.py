"""Servers on this machine that speak as the object stores of Google and Azure do, over HTTP."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key that the emulator documents for its one account: no secret."""


@contextmanager
def google_server() -> Iterator[dict[str, str]]:
    """Run a server of Google Cloud Storage; yield the environment by which gcsfs reaches it."""
    pytest.importorskip("gcsfs", reason="needs gcsfs (extra gs)")
    emulator = pytest.importorskip("gcp_storage_emulator.server", reason="needs gcp-storage-emulator (dev)")
    logging.getLogger("gcsfs").setLevel(logging.ERROR)
    logging.getLogger("gcp_storage_emulator").setLevel(logging.CRITICAL)
    port = _free_port()
    server = emulator.create_server("127.0.0.1", port, in_memory=True)
    server.start()
    try:
        yield {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
    finally:
        server.stop()


@contextmanager
def azure_server(folder: Path) -> Iterator[dict[str, str]]:
    """Run a server of Azure's blobs; yield the environment by which adlfs reaches it.

    It is Azurite, by Microsoft, a program of the npm registry: where ANON_PIPELINE_AZURITE says, or on the
    path.

    Args:
        folder: where the server may write.
    """
    pytest.importorskip("adlfs", reason="needs adlfs (extra az)")
    program = os.environ.get("ANON_PIPELINE_AZURITE") or shutil.which("azurite-blob")
    if program is None:
        pytest.skip("needs azurite-blob (npm install azurite) for a server of Azure's blobs")
    port = _free_port()
    words = [program, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    words += ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, cwd=folder, stdout=quiet, stderr=quiet) as server:
        try:
            _wait_for(port)
            place = f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1"
            account = f"AccountName=devstoreaccount1;AccountKey={_AZURE_KEY}"
            yield {"AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;{account};{place}"}
        finally:
            server.terminate()


@contextmanager
def s3_server_apart() -> Iterator[dict[str, str]]:
    """Run a server of S3 in a process of its own; yield the environment by which deltalake reaches it.

    That library holds Python's lock while it waits for some answers, so that a thread could give none.
    """
    pytest.importorskip("moto.server", reason="needs moto for a server of S3 (extra dev)")
    port = _free_port()
    words = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port)
            keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
            place = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
            yield {**keys, **place, "AWS_ALLOW_HTTP": "true"}
        finally:
            server.terminate()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(port: int) -> None:
    """Wait until something listens at a port of this machine; at most a minute."""
    for _ in range(600):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the server must listen within a minute")
