"""A second process that compiles what a release needs last, while the first compiles what it needs first.

numba compiles one kernel at a time in a process. Where nothing is on disk yet, a second process takes a fifth
to a quarter off the time of the first run on two idle processors. It reads no data: a few generated patients
are noised, shuffled and judged, and thrown away. The first process finds the kernels on disk, or compiles
them itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

from anon_pipeline.policy.model import Policy

_ONE_NOISY = "one"
_NICE = 5
_FLAGS = {"isolated": "-I", "ignore_environment": "-E", "no_user_site": "-s"}
_NEEDED = (
    "HOME",
    "LANG",
    "LC_",
    "LD_LIBRARY_PATH",
    "NUMBA_",
    "PATH",
    "PYTHON",
    "SYSTEMROOT",
    "TMP",
    "XDG_CACHE_",
)
_ENOUGH = 0.5  # of a processor, for it to help more than it disturbs


def start_compiling_ahead(policy: Policy | None = None) -> subprocess.Popen[bytes] | None:
    """Start it where it helps: if a processor is free, and nothing that comes last is on disk.

    Args:
        policy: of the release; None: not known.
    Returns:
        The process, to be ended by `end_compiling_ahead`; None: there is none.
    """
    from anon_pipeline.base.compilation import is_on_disk  # noqa: PLC0415 - takes a third of a second
    from anon_pipeline.stages.shuffle import exchange_places  # noqa: PLC0415

    if free_processors() < _ENOUGH or is_on_disk(exchange_places):
        return None
    one = policy is not None and len(policy.perturbed) < 2
    flags = [flag for name, flag in _FLAGS.items() if getattr(sys.flags, name)]
    command = [sys.executable, *flags, "-P", "-m", __name__, *([_ONE_NOISY] if one else [])]
    nothing = subprocess.DEVNULL
    with suppress(OSError, TypeError):  # TypeError: a program that embeds Python may not know its interpreter
        return subprocess.Popen(  # noqa: S603 - ourselves
            command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, env=_environment()
        )
    return None


def _environment() -> dict[str, str]:
    """Return what a process needs to find Python and numba's cache: no key, no password."""
    return {name: value for name, value in os.environ.items() if name.startswith(_NEEDED)}


def end_compiling_ahead(process: subprocess.Popen[bytes]) -> None:
    """End the process, wherever it is: what it has saved is whole."""
    process.kill()
    process.communicate()


def free_processors() -> float:
    """Estimate how many processors are left beside this process, by the load of the last minute."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = float(there)  # where it is not known, none is free
    with suppress(AttributeError, OSError):
        load = os.getloadavg()[0]
    return there - max(load, 1.0)


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, however that ended."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(0)


def compile_last_kernels(*, several: bool = True) -> None:
    """Compile the kernels of noise, shuffling and the gate, which come after recoding.

    Args:
        several: whether two columns carry noise instead of one; other kernels measure them then.
    """
    import numpy as np  # noqa: PLC0415 - the first process needs none of these

    from anon_pipeline.base.classes import EquivalenceClasses  # noqa: PLC0415
    from anon_pipeline.cli.warmup_releases import Rehearsal, rehearsal_policy, small_table  # noqa: PLC0415
    from anon_pipeline.encode.categories import noisy_units  # noqa: PLC0415
    from anon_pipeline.encode.codes import CLASS, RECORD  # noqa: PLC0415
    from anon_pipeline.encode.noise import draw_noise  # noqa: PLC0415
    from anon_pipeline.gate import evaluate  # noqa: PLC0415
    from anon_pipeline.hierarchy.levels import TOP  # noqa: PLC0415
    from anon_pipeline.perturb.entropy import system_entropy  # noqa: PLC0415
    from anon_pipeline.perturb.keys import Words, fresh_key  # noqa: PLC0415
    from anon_pipeline.stages.shuffle import permutation  # noqa: PLC0415

    policy = rehearsal_policy(Rehearsal(several=several))
    table = small_table()[policy.released].dropna(subset=list(policy.perturbed)).reset_index(drop=True)
    places = np.arange(len(table))
    table[list(policy.generalized)] = TOP  # one class of all
    table.insert(0, RECORD, places)
    table.insert(1, CLASS, np.zeros(len(table), np.int64))
    entropy, classes = system_entropy(), EquivalenceClasses(np.zeros(len(table), np.int64), places[-1:] + 1)
    evaluate(table, policy, originals=table)  # last of all, so first here: the two processes meet
    permutation(len(table), entropy=entropy)
    draw_noise(policy, noisy_units(table, policy), classes, words=Words(fresh_key(entropy), places))


if __name__ == "__main__":
    from anon_pipeline.cli.core_dumps import keep_out_of_dumps

    keep_out_of_dumps()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError):
        os.nice(_NICE)
    compile_last_kernels(several=_ONE_NOISY not in sys.argv[1:])
