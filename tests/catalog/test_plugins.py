"""Plugins: the example, installed as a package, works everywhere; and no plugin gets in where it must not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.catalog.plugins import installed_plugins
from tests.warm_process import WarmProcess

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "tests" / "plugin"
GROUPS = ("limits", "mechanisms", "recoders", "sources", "hierarchies", "losses")
KINDS = [
    "hierarchies.prefix",
    "limits.largest_class",
    "losses.squared_levels",
    "mechanisms.triangle",
    "recoders.lowest",
    "sources.json_lines",
    "sources.zipped",
]
CLI = "from anon_pipeline.cli import main; main()"
SCENARIOS = f"import sys; sys.path.insert(0, {str(EXAMPLE)!r}); "
IN_MEMORY = f"""{SCENARIOS}
from scenarios import ALL, people
from anon_pipeline import anonymize, evaluate
from anon_pipeline.policy import policy_from
columns = {{**ALL["columns"], "city": {{"role": "generalize", "hierarchy": {{"suppress": True}}}}}}
base = {{**ALL, "source": {{"path": "x.csv"}}, "columns": columns, "perturb": {{"epsilon": 2}}}}
fair = policy_from({{**base, "anonymize": {{"k": 3}}, "gate": {{"mine": 0.5}}}})
"""
"""The start of a program: a policy whose gate has the limit ``mine``, without the example's other kinds."""


def install(folder: Path) -> Path:
    """Install the example as users do, without an index and without a network."""
    source, target = folder / "source", folder / "site"
    shutil.copytree(EXAMPLE, source)
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *offline, "--target", str(target), str(source)],
        check=True,
    )
    return target


def reversioned(site: Path, folder: Path, version: str) -> Path:
    """Copy the installed example as one of another version, of which only the metadata tells."""
    copied = Path(shutil.copytree(site, folder / f"site-{version}"))
    about = copied / "anon_example-1.0.0.dist-info"
    text = (about / "METADATA").read_text(encoding="utf-8")
    assert "\nVersion: 1.0.0\n" in text
    (about / "METADATA").write_text(
        text.replace("\nVersion: 1.0.0\n", f"\nVersion: {version}\n"), encoding="utf-8"
    )
    about.rename(copied / f"anon_example-{version}.dist-info")
    return copied


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module", autouse=True)
def _warm(warm: WarmProcess) -> Iterator[None]:
    WARM.append(warm)
    yield
    WARM.clear()


WARM: list[WarmProcess] = []


def _environment(site: Path, allowed: str | None) -> dict[str, str]:
    """Return the environment with a folder of packages, and a list of plugins that are allowed."""
    environment = {name: value for name, value in os.environ.items() if name != "ANON_PIPELINE_PLUGINS"}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "COLUMNS": "200",
    }
    if allowed is not None:
        environment["ANON_PIPELINE_PLUGINS"] = allowed
    return environment


def run_cold(
    *arguments: str, site: Path, allowed: str | None = "anon-example", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python from nothing."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=_environment(site, allowed),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run(
    flag: str,
    program: str,
    *arguments: str,
    site: Path,
    allowed: str | None = "anon-example",
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program (``-c``) in a process of its own in which nothing of this package is imported yet."""
    assert flag == "-c"
    environment = _environment(site, allowed)
    return WARM[0].run(program, *arguments, site=site, environment=environment, cwd=cwd)


def scenario(name: str, folder: Path, site: Path) -> Any:
    done = run_cold(str(EXAMPLE / "scenarios.py"), name, str(folder), site=site)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def cli(*arguments: str, site: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return run("-c", CLI, *arguments, site=site, **more)


def test_its_limit_blocks_a_release_in_dagster(tmp_path: Path, site: Path) -> None:
    found = scenario("dagster", tmp_path, site)
    assert found["kept"]["success"] and found["kept"]["published"] == 1
    unkept = [name for name, passed in found["kept"]["passed"].items() if not passed]
    # The noise of the example is wider than two spreads of the heights, and promises nothing.
    assert unkept == [
        "utility_error_of_spread_height",
        "accepted_perturb_without_guarantee",
        "accepted_reviewed",
    ]
    assert not found["broken"]["success"]
    assert (found["broken"]["published"], found["broken"]["files"]) == (0, [])
    assert found["broken"]["passed"]["largest_class"] is False
    assert found["broken"]["severity"] == "ERROR"
    manifest = json.loads((tmp_path / "kept" / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["plugins"] == [{"name": "anon-example", "version": "1.0.0", "kinds": KINDS}]
    assert {kind.partition(".")[0] for kind in KINDS} == set(GROUPS)
    data = (tmp_path / "kept" / "out" / manifest["files"][0]["name"]).read_text(encoding="utf-8")
    cities = {line.split(",")[1] for line in data.splitlines()[1:]}
    assert all(len(city) <= 7 for city in cities) and cities  # of the source, as its hierarchy has them


def test_its_noise_follows_its_law(tmp_path: Path, site: Path) -> None:
    found = scenario("noise", tmp_path, site)
    assert found["fit"] > 0.001
    assert found["outside"] == 0
    for summed, closed in found["sums"]:
        assert summed == pytest.approx(closed, abs=1e-12)


def test_its_loss_is_minimized(tmp_path: Path, site: Path) -> None:
    for searched, enumerated in scenario("optimum", tmp_path, site):
        assert searched == pytest.approx(enumerated, abs=1e-12)


def test_its_key_has_marks_and_leaves_other_policies_as_they_are(tmp_path: Path, site: Path) -> None:
    found = scenario("policy", tmp_path, site)
    assert found["schema"]
    assert "squared_levels" in found["measures"]
    assert "lowest" in found["recoder"]["enum"]
    assert "; lowest: the first node that keeps all limits" in found["recoder"]["description"]
    assert found["public"] == {"k": 3, "largest_class": 0.5}
    assert not found["binds"]
    assert "largest_class" not in found["document"]


def test_its_kind_of_source_is_private_confined_and_leaves_other_policies_as_they_are(
    tmp_path: Path, site: Path
) -> None:
    found = scenario("source", tmp_path, site)
    assert "zip" not in found["public"] and "today" not in found["public"]
    assert found["binds"] == {"file": "people.zip", "member": "today/people.jsonl"}
    outside, missing, no_section = found["said"]
    assert outside.startswith("source.zipped.file: must stay within the folder of sources")
    assert missing.startswith("source.zipped.file: must be given") and "canary" not in missing
    assert "source.zipped: must be a mapping" in no_section and "canary" not in no_section
    assert "zipped" not in found["without"]
    field, words = found["schema"]
    assert field["else"] == {"$ref": "#/$defs/Zipped"} and field["description"] == "File in a ZIP archive."
    assert words.endswith("asset, generate and zipped.")
    assert found["partition"] == {"zipped.member": "{partition}"}
    assert found["read"] == [240, "source.zipped.member: {partition} must be filled in, got no partition"]
    assert found["copied"]


def write_policy(folder: Path, site: Path) -> None:
    """Write the example's policy and its table."""
    program = f"{SCENARIOS}import scenarios; from pathlib import Path; scenarios.write(Path('.'), 0.9)"
    done = run("-c", program, site=site, allowed=None, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def _made_once(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Path:
    """A project with a release made with the example on the command line, in a process from nothing."""
    folder = tmp_path_factory.mktemp("made")
    write_policy(folder, site)
    done = run_cold("-c", CLI, "run", "policy.yaml", site=site, cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


@pytest.fixture
def out(_made_once: Path, tmp_path: Path) -> Path:
    """A copy of that release, in a copy of the project."""
    shutil.copytree(_made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


def test_a_release_verifies_only_where_the_same_plugin_is(out: Path, tmp_path: Path, site: Path) -> None:
    verify = ("verify", str(out), "--policy", "policy.yaml")
    here = cli(*verify, site=site, cwd=tmp_path)
    assert here.returncode == 0, here.stdout + here.stderr
    told = json.loads(cli(*verify, "--json", site=site, cwd=tmp_path).stdout)
    assert {one["limit"]: one["status"] for one in told["verdicts"]}["plugins"] == "passed"
    assert not any(leaf["path"].startswith("plugins.") for leaf in told["unverified"])
    checked = cli("check", str(next(out.glob("*.csv"))), "--policy", "policy.yaml", site=site, cwd=tmp_path)
    assert "largest_class" in checked.stdout

    without = cli(*verify, site=site, allowed=None, cwd=tmp_path)
    assert without.returncode == 2
    assert "limits.largest_class" in without.stderr and "cannot be checked" in without.stderr
    assert "anon-example 1.0.0" in without.stderr and "Traceback" not in without.stderr

    alone = cli("verify", str(out), site=site, allowed=None, cwd=tmp_path)
    assert alone.returncode == 1
    assert "refused by" in alone.stderr and "plugins" in alone.stderr

    other = reversioned(site, tmp_path, "1.1.0")
    newer = cli(*verify, "--json", site=other, cwd=tmp_path)
    assert newer.returncode == 1
    verdicts = {one["limit"]: one for one in json.loads(newer.stdout)["verdicts"]}
    assert verdicts["plugins"]["status"] == "refused"
    assert "here is 1.1.0" in verdicts["plugins"]["reason"]
    assert verdicts["gate.largest_class"]["status"] == "unmeasured"


def test_a_manifest_that_hides_its_plugin_is_refused(out: Path, tmp_path: Path, site: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    del manifest["plugins"]
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    done = cli("verify", str(out), "--policy", "policy.yaml", site=site, cwd=tmp_path)
    assert done.returncode == 1
    assert "plugins" in done.stderr


def test_without_the_list_the_policy_is_refused_as_with_any_unknown_name(tmp_path: Path, site: Path) -> None:
    write_policy(tmp_path, site)
    done = cli("run", "policy.yaml", site=site, allowed=None, cwd=tmp_path)
    assert done.returncode == 2
    assert "gate.largest_class: is not known here" in done.stderr
    assert "source.zipped: is not known here" in done.stderr
    for name in ("json_lines", "lowest", "squared_levels", "triangle"):
        assert f"got '{name}'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_command_lists_what_is_installed_without_importing_it(tmp_path: Path, site: Path) -> None:
    unknown = cli("plugins", site=site, allowed=None)
    assert unknown.returncode == 0
    line = next(line for line in unknown.stdout.splitlines() if "anon-example" in line)
    assert "1.0.0" in line and "no" in line
    known = cli("plugins", site=site)
    assert known.returncode == 0
    assert (
        "limits.largest_class" in known.stdout
        and "ANON_PIPELINE_PLUGINS allows: anon-example" in known.stdout
    )
    package = fake(tmp_path, "anon-crash", {"recoders": {"x": "crash:X"}}, crash="raise SystemExit(9)")
    assert cli("plugins", site=package, allowed=None).returncode == 0


def test_its_package_may_be_imported_first(site: Path) -> None:
    done = run_cold("-c", "import anon_example, anon_pipeline.limits.table", site=site)
    assert done.returncode == 0, done.stderr


def fake(folder: Path, name: str, points: Mapping[str, Mapping[str, str]], **modules: str) -> Path:
    """Lay out an installed package: its metadata, its entry points, its modules."""
    about = folder / f"{name.replace('-', '_')}-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
    lines = [
        line
        for group, entries in points.items()
        for line in (f"[anon_pipeline.{group}]", *(f"{own} = {place}" for own, place in entries.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    return folder


ENTRIES = """
from anon_pipeline.catalog.entries import *
from anon_pipeline.catalog.entries import FULL_DOMAIN, Family
from anon_pipeline.policy.fields import Share, Strict
"""


def _limit(name: str, place: str = "a:b") -> str:
    """Return the entry of a limit that is a share, measured by what is at a place."""
    return f"LimitKey({name!r}, Share | None, 'x', {place!r})"


def _place(name: str, field: str = "str | None") -> str:
    """Return the entry of a kind of source that is a text."""
    return f"SourceKind({name!r}, {field}, 'x', 'a:b')"


BAD: dict[str, tuple[str, str, str, str]] = {
    "a recoder of the same name": (
        "recoders",
        "ola",
        "Recoder('ola', 'x', FULL_DOMAIN, 'a:b')",
        "anon-pipeline",
    ),
    "a mechanism of the same name": ("mechanisms", "uniform", "Mechanism('uniform', 'x', 'a:b')", "uniform"),
    "a mechanism named as one of categories": (
        "mechanisms",
        "exponential",
        "Mechanism('exponential', 'x', 'a:b')",
        "anon-pipeline",
    ),
    "a format of the same name": ("sources", "csv", "Format('csv', 'a:b')", "anon-pipeline"),
    "a kind of source of the same name": ("sources", "path", _place("path"), "anon-pipeline"),
    "a kind of source named as a format": ("sources", "csv", _place("csv"), "anon-pipeline"),
    "a format named as a kind of source": ("sources", "url_env", "Format('url_env', 'a:b')", "anon-pipeline"),
    "a key beside the kinds of sources": ("sources", "limits", _place("limits"), "anon-pipeline"),
    "an attribute of the section source": ("sources", "place", _place("place"), "must have another name"),
    "a kind of source that pydantic cannot make": ("sources", "mine", _place("mine", "3j"), "pydantic"),
    "a loss of the same name": ("losses", "entropy", "Loss('entropy', 'x', 'cells', 'a:b')", "anon-pipeline"),
    "a hierarchy of the same name": (
        "hierarchies",
        "mask",
        "HierarchyKind('mask', Strict, 'a:b', 'a:b')",
        "anon-pipeline",
    ),
    "a key of the gate": ("limits", "k", _limit("k"), "anon-pipeline"),
    "an attribute of every section": (
        "limits",
        "model_fields",
        _limit("model_fields"),
        "must have another name",
    ),
    "a limit on attacks": ("limits", "prosecutor_risk", _limit("prosecutor_risk"), "anon-pipeline"),
    "a limit of every policy": ("limits", "contract", _limit("contract"), "anon-pipeline"),
    "another type": ("limits", "mine", "Recoder('mine', 'x', FULL_DOMAIN, 'a:b')", "must be a LimitKey"),
    "another name": ("recoders", "mine", "Recoder('yours', 'x', FULL_DOMAIN, 'a:b')", "must have the name"),
    "a name that is none": (
        "recoders",
        "a.b",
        "Recoder('a.b', 'x', FULL_DOMAIN, 'a:b')",
        "must have the name",
    ),
    "a family that there is": (
        "recoders",
        "mine",
        "Recoder('mine', 'x', Family('mondrian', 'a:b', 'levels'), 'a:b')",
        "must not replace the family",
    ),
    "a failing import": ("recoders", "mine", "1 / 0", "got ZeroDivisionError"),
    "an exit": ("recoders", "mine", "exit(3)", "got SystemExit"),
    "an import of a table": (
        "recoders",
        "mine",
        "__import__('anon_pipeline.policy.model', fromlist=['Policy']).Policy",
        "could not be imported",
    ),
    "a field that pydantic cannot make": ("limits", "mine", "LimitKey('mine', 3j, 'x', 'a:b')", "pydantic"),
    "a model that is not strict": (
        "hierarchies",
        "mine",
        "HierarchyKind('mine', dict, 'a:b', 'a:b')",
        "derived from Strict",
    ),
    "a limit that is not there": ("limits", "mine", _limit("mine", "no:X"), "importable"),
    "a limit of another type": ("limits", "mine", _limit("mine", "builtins:len"), "must be a Limit"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_a_plugin_must_not_do_is_an_error_that_names_it(case: str, tmp_path: Path) -> None:
    group, name, entry, said = BAD[case]
    site = fake(tmp_path, "anon-bad", {group: {name: "bad:ENTRY"}}, bad=f"{ENTRIES}ENTRY = {entry}\n")
    done = cli("plugins", site=site, allowed="anon-bad")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert "anon-bad 2.0" in done.stderr or name in done.stderr
    assert done.stderr.startswith("error: ")


GOOD = f"{ENTRIES}ENTRY = Recoder('mine', 'x', FULL_DOMAIN, 'a:b')\n"
ABOUT: dict[str, tuple[str, str, str]] = {
    "another name": ("METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 2.0\n", "got 'other'"),
    "no version": ("METADATA", "Metadata-Version: 2.1\nName: anon-bad\n", "'anon-bad' and None"),
    "no metadata": ("METADATA", "", "got '' and None"),
    "a misspelled group beside a good one": (
        "entry_points.txt",
        "[anon_pipeline.recoders]\nmine = bad:ENTRY\n[anon_pipeline.limit]\nyours = bad:ENTRY\n",
        "got 'anon_pipeline.limit'",
    ),
}


@pytest.mark.parametrize("case", ABOUT)
def test_a_plugin_whose_metadata_does_not_say_what_it_is_is_an_error_that_names_it(
    case: str, tmp_path: Path
) -> None:
    file, text, said = ABOUT[case]
    site = fake(tmp_path, "anon-bad", {"recoders": {"mine": "bad:ENTRY"}}, bad=GOOD)
    (site / "anon_bad-2.0.dist-info" / file).write_text(text)
    done = cli("plugins", site=site, allowed="anon-bad")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr and "anon-bad" in done.stderr
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("trait", "said"),
    [
        ("demanded=lambda policy: {}", "must leave demanded"),
        ("always=True", "must leave demanded, always"),
        ("attack=True", "must leave demanded, always and attack out"),
        ("of_policy=True", "must leave of_policy and by_version out"),
        ("published=Published(by_version=True)", "must leave of_policy and by_version out"),
        ("expectation='expect_release_to_be_k_anonymous'", "must have an expectation of its own"),
    ],
)
def test_a_limit_does_not_decide_whether_it_or_another_one_is_judged(
    tmp_path: Path, trait: str, said: str
) -> None:
    key = "ENTRY = LimitKey('mine', Share | None, 'x', 'lim:LIMIT')\n"
    limit = (
        "from anon_pipeline.limits.limit import Limit\n"
        "from anon_pipeline.limits.traits import Judged, Published, Words\n"
        f"LIMIT = Limit('mine', Words('x'), Judged(lambda case, demand: 0.0), {trait})\n"
    )
    site = fake(tmp_path, "anon-bad", {"limits": {"mine": "bad:ENTRY"}}, bad=ENTRIES + key, lim=limit)
    done = cli("plugins", site=site, allowed="anon-bad")
    assert done.returncode == 2
    assert said in done.stderr


PLACES = """
import pandas as pd

def raising(policy, folder, partition):
    raise ValueError("the name Quillfeather is in no register")

def nothing(policy, folder, partition):
    return [("Quillfeather",)]

def long(policy, folder, partition):
    return pd.DataFrame({"illness": ["Quillfeather"] * 9})
"""
SAID = {
    "raising": (70, "The stage source crashed with ValueError at places.py:5"),
    "nothing": (2, "source.mine: the plugin must read a table of pandas, got list"),
    "long": (2, "source.mine: must keep the limit rows (5), got 9"),
}


@pytest.mark.parametrize("reader", SAID)
def test_what_a_plugin_says_of_an_error_or_reads_is_not_told(tmp_path: Path, reader: str) -> None:
    marked = "Annotated[str | None, SHOWN, AFTER]"  # below source, no mark makes it public
    site = fake(
        tmp_path,
        "anon-bad",
        {"sources": {"mine": "bad:MINE"}},
        bad=f"{ENTRIES}from typing import Annotated\nfrom anon_pipeline.policy.marks import AFTER, SHOWN\n"
        f"MINE = SourceKind('mine', {marked}, 'x', 'places:{reader}')\n",
        places=PLACES,
    )
    document = {
        "name": "small",
        "source": {"mine": "canary", "limits": {"rows": 5}},
        "columns": {"illness": {"role": "generalize", "hierarchy": {"suppress": True}}},
        "anonymize": {"k": 2},
    }
    policy = {"type": "anon_pipeline.AnonymizedRelease", "attributes": document}
    (tmp_path / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()
    done = cli("run", "policy.yaml", site=site, allowed="anon-bad", cwd=tmp_path)
    code, said = SAID[reader]
    assert done.returncode == code and said in done.stderr, done.stdout + done.stderr
    assert "Quillfeather" not in done.stdout + done.stderr and "canary" not in done.stderr
    program = (
        "from anon_pipeline.policy import load_policy\n"
        "from anon_pipeline.policy.walks import binding_fields, public_fields\n"
        "made = load_policy('policy.yaml')\n"
        "print('source' in public_fields(made), binding_fields(made)['source']['mine'])\n"
    )
    marks = run("-c", program, site=site, allowed="anon-bad", cwd=tmp_path)
    assert "False canary" in marks.stdout, marks.stderr


WRITTEN = """
import numpy as np
from anon_pipeline.hierarchy.build import code_leaves

def groups_column(column, spec, folder):
    def levels(leaves):
        labels = [next((group for group in spec.groups if leaf in group), "rest") for leaf in leaves]
        return [leaves, np.array(labels, object), np.full(len(leaves), "*", object)]
    return code_leaves(column, levels)
"""


@pytest.mark.parametrize(("trait", "found"), [("", "('ward',)"), (", computed=True", "()")])
def test_labels_of_a_hierarchy_are_looked_at_unless_it_says_that_a_rule_computes_them(
    tmp_path: Path, trait: str, found: str
) -> None:
    entry = (
        f"{ENTRIES}class Groups(Strict):\n    groups: tuple[str, ...]\n"
        f"ENTRY = HierarchyKind('groups', Groups, 'written:groups_column', 'written:none'{trait})\n"
    )
    site = fake(tmp_path, "anon-own", {"hierarchies": {"groups": "own:ENTRY"}}, own=entry, written=WRITTEN)
    program = """
import pandas as pd
from anon_pipeline.evidence.listing_labels import listing_labels
from anon_pipeline.policy import policy_from
ward = {"role": "generalize", "hierarchy": {"groups": ["Ann and Bob"]}}
policy = policy_from(
    {"name": "n", "source": {"path": "n.csv"}, "columns": {"ward": ward}, "anonymize": {"k": 5}}
)
print(listing_labels(pd.DataFrame({"ward": ["Ann"] * 2 + ["Bob"] * 3 + ["Cid"] * 40}), policy))
"""
    done = run("-c", program, site=site, allowed="anon-own")
    assert done.stdout.splitlines() == [found], done.stdout + done.stderr[-2000:]


def test_two_plugins_with_one_name(tmp_path: Path) -> None:
    entry = f"{ENTRIES}ENTRY = Recoder('mine', 'x', FULL_DOMAIN, 'a:b')\n"
    fake(tmp_path, "anon-one", {"recoders": {"mine": "one:ENTRY"}}, one=entry)
    fake(tmp_path, "anon-two", {"recoders": {"mine": "two:ENTRY"}}, two=entry)
    done = cli("plugins", site=tmp_path, allowed="anon-one, anon_two")
    assert done.returncode == 2
    assert "anon-two 2.0" in done.stderr and "anon-one 2.0" in done.stderr and "mine" in done.stderr


@pytest.mark.parametrize(("listed", "said"), [("anon-none", "are installed"), ("numpy", "no entry point")])
def test_what_is_listed_must_be_an_installed_plugin(listed: str, said: str, tmp_path: Path) -> None:
    for command in ("plugins", "schema"):
        done = cli(command, site=tmp_path, allowed=listed)
        assert done.returncode == 2
        assert said in done.stderr and listed in done.stderr and "Traceback" not in done.stderr


def test_in_dagster_the_error_has_no_traceback_of_the_plugin(tmp_path: Path) -> None:
    site = fake(tmp_path, "anon-bad", {"recoders": {"mine": "bad:ENTRY"}}, bad="1 / len('')  # private")
    program = (
        "from dagster._utils.error import serializable_error_info_from_exc_info as info\nimport sys\n"
        "try:\n    from anon_pipeline import AnonymizedRelease\n"
        "except Exception:\n    print(info(sys.exc_info()).to_string())\n"
    )
    done = run("-c", program, site=site, allowed="anon-bad")
    assert "PluginError: the plugin anon-bad 2.0" in done.stdout
    assert "division" not in done.stdout and "bad.py" not in done.stdout


CHEATS = """
from dataclasses import replace
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.recode.fulldomain.search import score
LIMIT = Limit("mine", Words("x"), Judged(judge=lambda case, demand: Verdict("k", Status.PASSED)))

def node(search):
    return replace(score(search, 0), suppressed=0) if hasattr(score(search, 0), "__dataclass_fields__") \\
        else score(search, 0)._replace(suppressed=0), 0
"""


def test_a_recoder_that_breaks_the_limits_and_a_verdict_on_another_limit_are_refused(tmp_path: Path) -> None:
    entries = (
        f"{ENTRIES}KEY = LimitKey('mine', Share | None, 'x', 'cheats:LIMIT')\n"
        "LAZY = Recoder('lazy', 'x', FULL_DOMAIN, 'cheats:node', needs_levels=True)\n"
    )
    points = {"limits": {"mine": "bad:KEY"}, "recoders": {"lazy": "bad:LAZY"}}
    site = fake(tmp_path, "anon-bad", points, bad=entries, cheats=CHEATS)
    program = f"""{IN_MEMORY}
report = anonymize(fair, people()).report
print([(v.limit, str(v.status)) for v in report.verdicts], report.passed)
lazy = {{**base, "anonymize": {{"k": 3, "recoder": "lazy"}}, "gate": {{}}}}
try:
    anonymize(policy_from(lazy), people())
except Exception as error:
    print(type(error).__name__, error)
"""
    done = run("-c", program, site=site, allowed="anon-bad")
    assert "('k', 'passed')" in done.stdout and "('mine', 'refused')" in done.stdout, (
        done.stdout + done.stderr
    )
    assert "PluginError the recoder lazy must recode every record" in done.stdout


def test_a_limit_that_changes_what_it_is_given_changes_no_release(tmp_path: Path) -> None:
    lim = """
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.traits import Judged, Words

def measure(case, demand):
    case.release.drop(columns=list(case.release), inplace=True)
    case.evidence.released.loc[:, "illness"] = "flu"
    case.evidence.classes.sizes.setflags(write=True)
    case.evidence.classes.sizes[:] = 10**6
    object.__setattr__(case.policy.gate, "k", 2)
    return 0.1

LIMIT = Limit("mine", Words("x"), Judged(measure))
"""
    key = "KEY = LimitKey('mine', Share | None, 'x', 'lim:LIMIT')\n"
    site = fake(tmp_path, "anon-bad", {"limits": {"mine": "bad:KEY"}}, bad=ENTRIES + key, lim=lim)
    program = f"""{IN_MEMORY}
frame = anonymize(fair, people()).frame
before, digest = frame.copy(), fair.digest
report = evaluate(frame, fair)
print([str(v.status) for v in report.verdicts if v.limit == "mine"], frame.equals(before),
    fair.digest == digest)
"""
    done = run("-c", program, site=site, allowed="anon-bad")
    assert "['passed'] True True" in done.stdout, done.stdout + done.stderr[-2000:]


@pytest.mark.parametrize("drawn", ["first + 0.5", "np.int64(0)", "(first + second)[:-1]"])
def test_a_mechanism_must_draw_a_whole_number_for_each_element(tmp_path: Path, drawn: str) -> None:
    source = EXAMPLE / "src" / "anon_example"
    triangle = (source / "triangle.py").read_text(encoding="utf-8")
    triangle = triangle.replace("from anon_example import triangle_law", "import triangle_law")
    site = fake(
        tmp_path,
        "anon-bad",
        {"mechanisms": {"mine": "bad:MINE"}},
        bad=f"{ENTRIES}MINE = Mechanism('mine', 'mine', 'mine:LAW', promises='nothing')\n",
        mine=triangle.replace("return first + second", f"return {drawn}"),
        triangle_law=(source / "triangle_law.py").read_text(encoding="utf-8"),
    )
    program = (
        "from fractions import Fraction\nimport numpy as np\n"
        "from anon_pipeline.perturb.entropy import seeded_entropy\n"
        "from anon_pipeline.perturb.mechanisms import Noise, draw\n"
        "draw(Noise('mine', Fraction(1)), np.full(9, 3), entropy=seeded_entropy(1))\n"
    )
    done = run("-c", program, site=site, allowed="anon-bad")
    assert "PluginError: the mechanism mine must draw an int64 for each element" in done.stderr


def test_of_two_copies_the_one_that_is_imported_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("2.0.0", "1.0.0"):  # the last to be put on the path is found first
        about = tmp_path / version / "anon_copy.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: anon-copy\nVersion: {version}\n")
        (about / "entry_points.txt").write_text("[anon_pipeline.losses]\nmine = copy_of:MINE\n")
        monkeypatch.syspath_prepend(tmp_path / version)
    assert [one.version for one in installed_plugins() if one.name == "anon-copy"] == ["1.0.0"]
    assert metadata.version("anon-copy") == "1.0.0"
