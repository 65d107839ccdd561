"""The Dockerfile is what `benchmarks.image` can run, and copies what its commands need."""

from __future__ import annotations

from pathlib import Path

from benchmarks.image import instructions

ROOT = Path(__file__).resolve().parents[2]


def test_its_instructions_are_known_and_its_files_are_there() -> None:
    found = list(instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    assert {name for name, _ in found} == {
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "ENV",
        "USER",
        "ENTRYPOINT",
        "CMD",
    }
    copied = [source for name, rest in found if name == "COPY" for source in rest.split()[:-1]]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for source in copied:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored
    assert ("RUN", "anon-pipeline warmup") in found


def test_kernels_are_compiled_by_the_user_of_the_container() -> None:
    found = list(instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    assert found.index(("USER", "pipeline")) < found.index(("RUN", "anon-pipeline warmup"))


def test_doctor_runs_where_the_user_may_write() -> None:
    found = list(instructions((ROOT / "Dockerfile").read_text(encoding="utf-8")))
    place = found.index(("RUN", "anon-pipeline doctor"))
    at = [rest for name, rest in found[:place] if name == "WORKDIR"][-1]
    (owned,) = [rest.split() for _, rest in found[:place] if "--owner pipeline" in rest]
    assert at in owned


def test_lines_that_go_on_are_one_instruction() -> None:
    assert list(instructions("# words\nRUN a \\\n  b\n\nCMD []\n")) == [("RUN", "a    b"), ("CMD", "[]")]
