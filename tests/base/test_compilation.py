"""Compiled code is that of the sources as they are, whoever else compiles, and whenever that is cut short."""

from __future__ import annotations

import ast
import itertools
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_pipeline.base import compilation
from anon_pipeline.base.compilation import _CacheFile, elementwise, kernel

PACKAGE = Path(compilation.__file__).parents[1]
STEPS = ("_load_index", "_save_data", "_save_index")


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    def make(stamp: str = "now") -> _CacheFile:
        return _CacheFile(cache_path=str(tmp_path), filename_base="loop-1.py311", source_stamp=stamp)

    return make


def codes(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.nbc"))


@pytest.mark.parametrize("turns", sorted(set(itertools.permutations("aaabbb"))), ids="".join)
def test_two_that_save_in_turns_never_mix_up_their_code(
    cache: Any, turns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes save two signatures; each of their three steps comes in every possible order.

    numba's own class mixes them up where both choose a number before either has written its code.
    """
    left, turn = list(turns), threading.Condition()

    def in_turn(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            with turn:
                assert turn.wait_for(lambda: left[0] == name, timeout=60)
                found = step(*given)
                left.pop(0)
                turn.notify_all()
            return found

        return run

    threads = []
    for name in "ab":
        own = cache()
        for step in STEPS:
            monkeypatch.setattr(own, step, in_turn(name, getattr(own, step)))
        threads.append(threading.Thread(target=own.save, args=(name, f"code of {name}"), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert left == []
    for key in "ab":
        assert cache().load(key) in {None, f"code of {key}"}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_who_saves_at_the_same_time_never_gets_anothers_code(
    cache: Any, step: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after any step of one that saves, another saves the code of another signature."""
    first, second = cache(), cache()
    whole = getattr(first, step)

    def interrupted(*given: Any) -> Any:
        if not after:
            second.save("floats", "code of floats")
        found = whole(*given)
        if after:
            second.save("floats", "code of floats")
        return found

    monkeypatch.setattr(first, step, interrupted)
    first.save("ints", "code of ints")
    for key in ("ints", "floats"):
        assert cache().load(key) in {None, f"code of {key}"}
        cache().save(key, f"code of {key}")
    assert [cache().load(key) for key in ("ints", "floats")] == ["code of ints", "code of floats"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_who_is_killed_while_saving_never_leaves_code_of_another_version(
    cache: Any, tmp_path: Path, step: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache("before").save("ints", "old code")
    own = cache("now")
    assert own.load("ints") is None
    whole = getattr(own, step)

    def killed(*given: Any) -> Any:
        if after:
            whole(*given)
        raise SystemExit

    monkeypatch.setattr(own, step, killed)
    with pytest.raises(SystemExit):
        own.save("ints", "new code")
    assert cache("now").load("ints") in {None, "new code"}
    cache("now").save("ints", "new code")
    assert cache("now").load("ints") == "new code"
    assert len(codes(tmp_path)) == 1


def test_what_is_out_of_date_is_removed(cache: Any, tmp_path: Path) -> None:
    other = _CacheFile(cache_path=str(tmp_path), filename_base="loop-12.py311", source_stamp="now")
    other.save("ints", "of another loop")
    for version, key in itertools.product(("one", "two"), ("ints", "floats")):
        cache(version).save(key, f"{key} {version}")
    assert len(codes(tmp_path)) == 3
    assert [cache("two").load(key) for key in ("ints", "floats")] == ["ints two", "floats two"]
    assert other.load("ints") == "of another loop"


def run(folder: Path) -> str:
    """Run `whole` of a package in a process of its own."""
    paths = os.pathsep.join((str(folder), str(PACKAGE.parent)))
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from loops.whole import whole; print(whole(1), dict(whole.stats.cache_hits))",
        ],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def compiled_loops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of kernels that was run: what is compiled is loaded from then on, in a copy of it too."""
    path = tmp_path_factory.mktemp("compiled")
    folder = path / "loops"
    folder.mkdir()
    head = "from anon_pipeline.base.compilation import kernel\n"
    sources = {
        "__init__": "",
        "constants": "ADDED = 9\n",
        "deep": f"{head}\n@kernel\ndef deep(x):\n    return x * 1\n",
        "part": f"{head}from loops.constants import ADDED\nfrom loops.deep import deep\n"
        "\n@kernel\ndef part(x):\n    x = deep(x)\n    return x + ADDED\n",
        "whole": f"{head}from loops.part import part\n\n@kernel\ndef whole(x):\n    return part(x)\n",
    }
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    assert run(path).startswith("10 {}")
    copied = path / "copied"
    shutil.copytree(folder, copied / "loops")
    assert run(copied).startswith("10 {(int64,): 1}")  # a copy's code is found as well
    return folder


@pytest.mark.parametrize(
    ("module", "old", "new", "value"),
    [
        ("part", "x + ADDED", "x - ADDED", "-8"),
        ("deep", "x * 1", "x * 3", "12"),
        ("constants", "ADDED = 9", "ADDED = 5", "6"),
        ("whole", "return part(x)", "return part(x) * 2", "20"),
    ],
    ids=["a kernel that is called", "one that that calls", "a constant of another module", "itself"],
)
def test_a_kernel_is_compiled_anew_when_what_it_is_made_of_changed(
    compiled_loops: Path, tmp_path: Path, module: str, old: str, new: str, value: str
) -> None:
    folder = Path(shutil.copytree(compiled_loops, tmp_path / "loops"))
    file = folder / f"{module}.py"
    before = file.read_text(encoding="utf-8")
    assert old in before
    file.write_text(before.replace(old, new), encoding="utf-8")
    assert run(tmp_path) == f"{value} {{}}"
    assert run(tmp_path).startswith(f"{value} {{(int64,): 1}}")


def test_elementwise_applies_to_every_number() -> None:
    from anon_pipeline.perturb.discrete_gaussian_law import _square

    assert _square(np.array([0.0, 100.0])).tolist() == [0.0, 10_000.0]
    assert isinstance(_square._dispatcher.cache._cache_file, _CacheFile)


def test_a_kernel_is_compiled_for_calls_by_python_and_by_kernels_alone() -> None:
    from anon_pipeline.risk.confidence import inside

    point = np.zeros(2)
    assert inside(point, point, point)
    (made,) = inside.overloads.values()
    address = made.library.get_pointer_to_function
    assert address(made.fndesc.llvm_cpython_wrapper_name) != 0
    assert address(made.fndesc.llvm_cfunc_wrapper_name) == 0


def test_without_compilation_a_kernel_is_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import config

    def doubled(x: int) -> int:
        return 2 * x

    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert kernel(doubled) is doubled
    assert elementwise(doubled)(4) == 8


def test_every_kernel_of_the_package_is_made_here() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert path.name == "compilation.py" or not any(
                name.split(".")[0] == "numba" for name in names
            ), path


@pytest.mark.parametrize(
    "gone", [b"cno.such.module\nType\n.", b"canon_pipeline.base.compilation\nNoSuchType\n.", b"", b"\x80"]
)
def test_an_index_that_is_damaged_or_names_types_of_an_earlier_version_is_stale(
    cache: Any, gone: bytes
) -> None:
    file = cache()
    file.save("ints", "code of ints")
    index = Path(file._index_path)
    version = pickle.dumps(file._version, protocol=-1)
    assert index.read_bytes().startswith(version)
    index.write_bytes(version + gone)
    assert cache().load("ints") is None
    cache().save("ints", "new code of ints")
    assert cache().load("ints") == "new code of ints"
    index.write_bytes(b"")
    assert cache().load("ints") is None


@pytest.fixture(scope="module")
def two_kernels(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What two processes say of a kernel that calls another with constants: each compilation, its types."""
    path = tmp_path_factory.mktemp("told")
    (path / "loops").mkdir()
    (path / "loops" / "__init__.py").touch()
    (path / "loops" / "constants.py").write_text(
        "from anon_pipeline.base.compilation import kernel\n"
        "\n@kernel\ndef inner(x, y):\n    return x + y[0]\n"
        "\n@kernel\ndef outer(x):\n    return inner(0, (1, x)) + inner(1, (x, 0)) + inner(x, (x, x))\n",
        encoding="utf-8",
    )
    program = (
        "from anon_pipeline.base import compilation; from loops.constants import inner, outer; told = []\n"
        "compilation.__package__ = 'loops'\n"
        "with compilation.compilations_told(told.append): value = outer(5)\n"
        "outer(2.5); print(value, told, len(inner.signatures))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(path), str(PACKAGE.parent)))}
    command = [sys.executable, "-c", program]
    return [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]


def test_a_kernel_that_is_called_with_constants_is_compiled_once_for_each_type(
    two_kernels: list[str],
) -> None:
    assert two_kernels[0].startswith("17 ")
    assert two_kernels[0].endswith(" 4")  # one, and three with a float


def test_each_compilation_is_told_and_loading_is_none(two_kernels: list[str]) -> None:
    assert " [1, 2] " in two_kernels[0]
    assert " [] " in two_kernels[1]


@pytest.fixture(scope="module")
def array_kernel(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What two processes say of a kernel that makes an array: of whole numbers, then of others.

    Each time: its value, whether numba's registries are loaded, how often its code came from the disk.
    """
    path = tmp_path_factory.mktemp("arrays")
    (path / "loops").mkdir()
    (path / "loops" / "__init__.py").touch()
    (path / "loops" / "arrays.py").write_text(
        "import numpy as np\nfrom anon_pipeline.base.compilation import kernel\n"
        "\n@kernel\ndef doubled(x):\n    made = np.empty(2, np.float64)\n    made[:] = x\n"
        "    return made * 2\n",
        encoding="utf-8",
    )
    program = (
        "import sys; from loops.arrays import doubled\n"
        "for given in map(eval, sys.argv[1:]):\n"
        "    value = doubled(given).tolist()\n"
        "    hits = sum(doubled.stats.cache_hits.values())\n"
        "    print(value, 'numba.np.linalg' in sys.modules, hits)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(path), str(PACKAGE.parent)))}
    command = [sys.executable, "-c", program]
    return [
        subprocess.run(
            [*command, *given], env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for given in (["4"], ["4", "2.5"])
    ]


def test_code_from_the_disk_needs_no_registries_of_numba(array_kernel: list[list[str]]) -> None:
    assert array_kernel[0] == ["[8.0, 8.0] True 0"]
    assert array_kernel[1][0] == "[8.0, 8.0] False 1"


def test_what_is_not_on_the_disk_is_compiled_after_what_was(array_kernel: list[list[str]]) -> None:
    assert array_kernel[1][1:] == ["[5.0, 5.0] True 1"]


def test_what_is_applied_elementwise_is_loaded_before_anything_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "__init__.py").touch()
    (tmp_path / "loops" / "squares.py").write_text(
        "from anon_pipeline.base.compilation import elementwise\n"
        "\n@elementwise\ndef square(x):\n    return x * x\n",
        encoding="utf-8",
    )
    program = (
        "import sys, numpy as np; from loops.squares import square\n"
        "before = 'numba.np.linalg' in sys.modules\n"
        "print(before, square(np.array([2.0, 3.0])).tolist())"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(PACKAGE.parent)))}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "False [4.0, 9.0]"
