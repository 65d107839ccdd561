"""Settings of libraries and of the process, tried on releases that must be refused and one that must pass.

Run as ``python -m benchmarks.settings [--markdown]``; exits with 1 if a verdict differs from what it is
without settings. Belongs here: the settings, the releases, the process that judges them. Does not belong
here: changing code of a library (monkeypatching), against which nothing in the same process can defend.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """Some settings that are tried together, in a process of their own.

    name: what is set, in words.
    environ: variables of the environment.
    flags: of Python.
    within: statements that are run before anything is judged, as a host process might.
    process: settings of one name are tried together, in one process.
    """

    name: str
    environ: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    within: str = ""
    process: str = ""


SETTINGS = (
    Setting(
        "Pandera: PANDERA_VALIDATION_ENABLED=False",
        {"PANDERA_VALIDATION_ENABLED": "False"},
        process="disabled",
    ),
    Setting(
        "Pandera: PANDERA_VALIDATION_DEPTH=SCHEMA_ONLY, its cache, its other backend",
        {
            "PANDERA_VALIDATION_DEPTH": "SCHEMA_ONLY",
            "PANDERA_CACHE_DATAFRAME": "True",
            "PANDERA_KEEP_CACHED_DATAFRAME": "True",
            "PANDERA_USE_NARWHALS_BACKEND": "True",
        },
        process="shallow",
    ),
    Setting(
        "Pandera: set_config and config_context in the same process",
        within="import pandera.config as c\n"
        "c.set_config(validation_enabled=False, validation_depth='SCHEMA_ONLY')\n"
        "c.reset_config_context()\nkept = c.config_context(validation_enabled=False)\nkept.__enter__()",
        process="within",
    ),
    Setting(
        "Python: -O, PYTHONHASHSEED, PYTHONSAFEPATH, PYTHONWARNINGS=ignore",
        {
            "PYTHONHASHSEED": "1",
            "PYTHONSAFEPATH": "1",
            "PYTHONWARNINGS": "ignore",
        },
        flags=("-O",),
        process="optimized",
    ),
    Setting("Python: PYTHONWARNINGS=error", {"PYTHONWARNINGS": "error"}, process="bounds"),
    Setting("Python: -OO, no docstrings", flags=("-OO",), process="slow"),
    Setting(
        "Python: PYTHONDONTWRITEBYTECODE, PYTHONUTF8=0, PYTHONIOENCODING=ascii, PYTHONDEVMODE, a hash seed",
        {
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "0",
            "PYTHONIOENCODING": "ascii",
            "PYTHONDEVMODE": "1",
            "PYTHONHASHSEED": "4294967295",
        },
        process="ascii",
    ),
    Setting(
        "locale and time: LC_ALL=tr_TR.UTF-8, LANG, TZ=Pacific/Kiritimati, SOURCE_DATE_EPOCH; umask 0",
        {
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "de_DE.UTF-8",
            "TZ": "Pacific/Kiritimati",
            "SOURCE_DATE_EPOCH": "0",
        },
        within="import locale, os\nos.umask(0)\n"
        "try: locale.setlocale(locale.LC_ALL, '')\nexcept locale.Error: pass",
        process="optimized",
    ),
    Setting("locale: LC_ALL=C", {"LC_ALL": "C", "LANG": "C", "TZ": "UTC"}, process="ascii"),
    Setting(
        "decimal: a context of two digits that traps nothing",
        within="import decimal\ndecimal.setcontext(decimal.Context(prec=2, traps=[]))\n"
        "decimal.DefaultContext.prec = 2",
        process="within",
    ),
    Setting(
        "numpy: seterr(all='ignore'), print options",
        within="import numpy as np\nnp.seterr(all='ignore')\nnp.set_printoptions(precision=1, legacy='1.13')",
        process="within",
    ),
    Setting(
        "numpy: seterr(all='raise')", within="import numpy as np\nnp.seterr(all='raise')", process="raising"
    ),
    Setting(
        "numpy and BLAS: NPY_PROMOTION_STATE, NPY_DISABLE_CPU_FEATURES, OPENBLAS and OMP threads",
        {
            "NPY_PROMOTION_STATE": "legacy",
            "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3",
            "OPENBLAS_NUM_THREADS": "7",
            "OMP_NUM_THREADS": "7",
            "MKL_NUM_THREADS": "7",
        },
        process="shallow",
    ),
    Setting(
        "pandas: string storage, infer_string off, numexpr and bottleneck off, chained assignment raises",
        {"PANDAS_COPY_ON_WRITE": "0", "PANDAS_FUTURE_INFER_STRING": "0"},
        within="import pandas as pd\n"
        "for name, value in {'mode.string_storage': 'python', 'future.infer_string': False,\n"
        "                    'compute.use_numexpr': False, 'compute.use_bottleneck': False,\n"
        "                    'mode.chained_assignment': 'raise', 'display.precision': 1}.items():\n"
        "    try: pd.set_option(name, value)\n"
        "    except (KeyError, ValueError): pass",
        process="shallow",
    ),
    Setting(
        "pandas: missing values kept apart from NaN, other sums",
        within="import pandas as pd\n"
        "for name, value in {'future.distinguish_nan_and_na': True, 'mode.sim_interactive': True,\n"
        "                    'future.no_silent_downcasting': True, 'compute.use_numba': True,\n"
        "                    'mode.performance_warnings': False}.items():\n"
        "    try: pd.set_option(name, value)\n"
        "    except (KeyError, ValueError): pass",
        process="raising",
    ),
    Setting(
        "numba: threads, threading layer, bounds checks, captured errors",
        {
            "NUMBA_NUM_THREADS": "2",
            "NUMBA_THREADING_LAYER": "workqueue",
            "NUMBA_BOUNDSCHECK": "1",
            "NUMBA_CAPTURED_ERRORS": "old_style",
        },
        process="bounds",
    ),
    Setting("numba: NUMBA_DISABLE_JIT=1", {"NUMBA_DISABLE_JIT": "1"}, process="interpreted"),
    Setting(
        "numba: NUMBA_OPT=0, another CPU", {"NUMBA_OPT": "0", "NUMBA_CPU_NAME": "generic"}, process="slow"
    ),
    Setting(
        "Arrow, fsspec, databases: memory pool, threads, protocols, PG*, SQLALCHEMY_*",
        {
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "ARROW_NUM_THREADS": "1",
            "ARROW_IO_THREADS": "1",
            "FSSPEC_FILE": '{"auto_mkdir": true}',
            "FSSPEC_FILE_AUTO_MKDIR": "True",
            "FSSPEC_CONFIG_DIR": "/nowhere",
            "PGHOST": "203.0.113.1",
            "PGOPTIONS": "-c default_transaction_read_only=on",
            "SQLALCHEMY_WARN_20": "1",
            "SQLALCHEMY_SILENCE_UBER_WARNING": "1",
        },
        process="disabled",
    ),
    Setting(
        "options of commands as variables, Dagster's and scikit-learn's switches",
        {
            "ANON_PIPELINE_CHECK_ALLOW_UNMEASURED": "1",
            "ANON_PIPELINE_ALLOW_UNMEASURED": "1",
            "CHECK_ALLOW_UNMEASURED": "1",
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "DAGSTER_IS_DEV_CLI": "1",
            "SKLEARN_ASSUME_FINITE": "True",
            "SKLEARN_WORKING_MEMORY": "1",
            "PYDANTIC_DISABLE_PLUGINS": "__all__",
        },
        process="disabled",
    ),
)
"""What is tried. Settings of one process fail together: try each alone to find the one."""

GX = Setting(
    "Great Expectations: analytics, progress bars, a cloud, its other variables",
    {
        "GX_ANALYTICS_ENABLED": "false",
        "GX_CLOUD_MODE": "false",
        "GX_CLOUD_ORGANIZATION_ID": "0",
        "GE_USAGE_STATS": "False",
        "GX_PYTHON_SDK_TESTING": "1",
        "TQDM_DISABLE": "1",
        "PANDERA_VALIDATION_ENABLED": "False",
    },
)
"""Tried by itself: it takes seconds to be imported."""


def together(process: str) -> Setting:
    """Return all settings of one process as one."""
    found = [setting for setting in SETTINGS if setting.process == process]
    environ: dict[str, str] = {}
    for setting in found:
        environ |= setting.environ
    return Setting(
        process,
        environ,
        tuple(flag for setting in found for flag in setting.flags),
        "\n".join(setting.within for setting in found),
        process,
    )


PROCESSES = tuple(dict.fromkeys(setting.process for setting in SETTINGS))
"""The processes that `SETTINGS` are tried in."""

_POLICY: dict[str, Any] = {
    "name": "settings",
    "source": {"path": "people.csv"},
    "columns": {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20]}},
        "city": {"role": "generalize", "hierarchy": {"suppress": True}},
        "height": {"role": "perturb", "unit": "cm", "resolution": 1},
        "illness": {"role": "sensitive", "distance": "equal"},
        "note": {"role": "insensitive"},
    },
    "anonymize": {"k": 3, "recoder": "optimal", "loss": "precision", "suppression_limit": 0.1},
    "perturb": {"epsilon": 2},
    "suppress": {"confidence": 0.99},
    "gate": {
        "k": 3,
        "t_closeness": {"illness": 0.9},
        "l_diversity": {"illness": {"kind": "distinct", "l": 1}},
        "linking_risk": 0.9,
        "suppression": 0.9,
        "confidence_k": 2,
    },
    "publish": {"to": "out"},
}
_LIMITS: dict[str, dict[str, Any]] = {
    "k": {"k": 1000},
    "t_closeness.illness": {"t_closeness": {"illness": 0.0}},
    "l_diversity.illness": {"l_diversity": {"illness": {"kind": "distinct", "l": 40}}},
    "linking_risk": {"linking_risk": 0.0},
    "confidence_k": {"confidence_k": 1000},
}
"""Limits that the prepared release cannot keep; each by its name."""


def _policy(limits: Mapping[str, Any] | None = None) -> Any:
    from anon_pipeline.policy import policy_from

    return policy_from({**_POLICY, "gate": {**_POLICY["gate"], **(limits or {})}})


def prepare(folder: Path) -> None:
    """Make one release and its originals, which every process judges: noise is drawn once.

    Args:
        folder: where they are kept; what is in them is generated.
    """
    import numpy as np
    import pandas as pd

    from anon_pipeline.perturb.entropy import system_entropy
    from anon_pipeline.stages.pipeline import run
    from anon_pipeline.stages.private import Means

    rng, n = np.random.default_rng(0), 240
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "city": rng.choice(["Cork", "Dublin", "Galway"], n),
            "height": rng.normal(170, 9, n).round(),
            "illness": rng.choice(["asthma", "flu", "gout", "none"], n),
            "note": rng.choice(["a", "b"], n),
        }
    )
    chain = run(_policy(), people, Means(Path(), None, system_entropy()))
    released, originals = chain.suppressed, chain.k_anonymized
    columns = {"r": [*released.frame.columns], "o": [*originals.frame.columns]}
    kept = {
        "released": {name: released.frame[name].tolist() for name in columns["r"]},
        "originals": {name: originals.frame[name].tolist() for name in columns["o"]},
        "facts": released.facts,
    }
    (folder / "release.pickle").write_bytes(pickle.dumps(kept))
    public = released.frame[_policy().released]
    public.to_csv(folder / "good.csv", index=False)
    public.assign(note="see ann@example.org").to_csv(folder / "bad.csv", index=False)


def _verdicts(report: Any) -> dict[str, list[Any]]:
    return {v.limit: [str(v.status), None if v.value is None else round(v.value, 9)] for v in report.verdicts}


def judged(folder: Path) -> dict[str, dict[str, list[Any]]]:
    """Judge the prepared release, and what was made bad of it, in this process.

    Args:
        folder: of `prepare`.
    Returns:
        By case, the verdict and the measured value of each limit. A case named after a limit breaks it.
    """
    import pandas as pd

    from anon_pipeline.gate import evaluate
    from anon_pipeline.publish.file_formats import read_release

    kept = pickle.loads((folder / "release.pickle").read_bytes())
    released, originals = pd.DataFrame(kept["released"]), pd.DataFrame(kept["originals"])

    def gate(policy: Any, both: Mapping[str, Any] | None = None, **one: Any) -> dict[str, list[Any]]:
        table = released.assign(**{**(both or {}), **one})
        behind = originals.assign(**(both or {}))
        return _verdicts(evaluate(table, policy, kept["facts"], originals=behind))

    found = {"good": gate(_policy())}
    found |= {name: gate(_policy(limits)) for name, limits in _LIMITS.items()}
    found["contract: an e-mail address"] = gate(_policy(), {"note": "see ann@example.org"})
    found["contract: a column too many"] = gate(_policy(), person=range(len(released)))
    found["contract: a missing value"] = gate(_policy(), {"illness": None})
    found["contract: off the grid"] = gate(_policy(), height=released["height"] + 0.5)
    found["contract: another type"] = gate(_policy(), height=released["height"].astype(int))
    found["origin: facts of another policy"] = _verdicts(
        evaluate(released, _policy(), {}, originals=originals)
    )
    for name in ("good", "bad"):
        table = read_release(folder / f"{name}.csv", _policy())
        case = "file alone: good" if name == "good" else "contract: an e-mail address in a file alone"
        found[case] = _verdicts(evaluate(table, _policy()))
    return found


def judged_by_great_expectations(folder: Path) -> dict[str, dict[str, list[Any]]]:
    """Judge the prepared release by the suite for Great Expectations, by limits that it keeps and breaks."""
    import pandas as pd

    from anon_pipeline.gate.great_expectations import gate_batch, validate

    kept = pickle.loads((folder / "release.pickle").read_bytes())
    released, originals = pd.DataFrame(kept["released"]), pd.DataFrame(kept["originals"])
    found = {}
    for name, limits in {"good": {}, **_LIMITS}.items():
        policy = _policy(limits)
        result = validate(gate_batch(released, originals, policy), policy)
        found[name] = {line.limit: ["passed" if line.success else "refused", None] for line in result.lines}
    return found


_JUDGES: dict[str, Callable[[Path], dict[str, dict[str, list[Any]]]]] = {
    "gate": judged,
    "suite": judged_by_great_expectations,
}


def asked(folder: Path, setting: Setting, judge: str = "gate") -> dict[str, dict[str, list[Any]]]:
    """Judge in a process of its own, under a setting.

    Args:
        folder: of `prepare`.
        setting: for the environment, for Python, and what the process does first.
        judge: ``gate``, or ``suite`` for Great Expectations.
    Returns:
        See `judged`.
    Raises:
        RuntimeError: the process ended otherwise, with what it said last.
    """
    program = (
        f"{setting.within}\nimport json, sys\nfrom pathlib import Path\nfrom benchmarks import settings\n"
        "found = settings._JUDGES[sys.argv[2]](Path(sys.argv[1]))\n"
        "sys.stdout.buffer.write(('\\n' + json.dumps(found)).encode())\n"
    )
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *setting.flags, "-c", program, str(folder), judge],
        env={**os.environ, "PYTHONPATH": path, **setting.environ},
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{setting.name}: {done.stderr.decode(errors='replace')[-2000:]}")
    answer: dict[str, dict[str, list[Any]]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def markdown() -> str:
    """Return the table of what is tried, as it stands in docs/settings.md."""
    lines = ["| process | tried | environment | in the process |", "|---|---|---|---|"]
    for setting in (*SETTINGS, GX):
        values = ", ".join(f"`{name}={value}`" for name, value in setting.environ.items())
        flags = " ".join(f"`python {flag}`" for flag in setting.flags)
        inside = "; ".join(f"`{line.strip()}`" for line in setting.within.splitlines()).replace("|", "\\|")
        lines.append(
            f"| {setting.process} | {setting.name} | {' '.join(filter(None, [flags, values]))} | {inside} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Try every setting and print how it ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="Print the table of settings alone.")
    if parser.parse_args().markdown:
        print(markdown())
        return 0
    differing = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for judge, settings in (("gate", map(together, PROCESSES)), ("suite", (GX,))):
            expected = asked(folder, Setting("none"), judge)
            for setting in settings:
                same = asked(folder, setting, judge) == expected
                differing += not same
                print("same" if same else "DIFFERS", setting.name, flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
