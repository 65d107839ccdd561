"""The benchmark of growing tables: its arithmetic, its measuring, and whole releases of few records."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml

from anon_pipeline.policy import policy_from
from anon_pipeline.sources.patients import patients
from benchmarks import scale, scale_more
from benchmarks.process_tree import Usage, together, tree, usage_of
from benchmarks.scale_more import VARIATIONS, changed_policy, line
from benchmarks.scale_table import (
    HEADER,
    Line,
    beyond_linear,
    growth,
    line_through,
    memory,
    middle,
    picture,
    row,
)

SVG = "{http://www.w3.org/2000/svg}"
MILLION = 1_000_000
POINTS = {
    1 * MILLION: Usage(12.0, 10.0, 2.0, 1300.0),
    2 * MILLION: Usage(22.0, 19.0, 3.0, 2300.0),
    4 * MILLION: Usage(50.4, 37.0, 5.0, 4300.0),
}


def test_a_line_through_points_on_a_line_is_that_line() -> None:
    assert line_through({MILLION: 7.0, 2 * MILLION: 11.0, 5 * MILLION: 23.0}) == Line(3.0, 4.0)
    assert Line(3.0, 4.0).at(500_000) == 5.0


def test_a_line_is_the_one_of_least_squares() -> None:
    found = line_through({0: 0.0, MILLION: 3.0, 2 * MILLION: 3.0})
    assert (found.fixed, found.per_million) == pytest.approx((0.5, 1.5))


def test_the_largest_is_compared_with_the_line_through_the_others() -> None:
    others = {4 * MILLION: 0.0, MILLION: 12.0, 2 * MILLION: 22.0}
    assert beyond_linear(others | {4 * MILLION: 42.0}) == pytest.approx(0.0)
    assert beyond_linear(others | {4 * MILLION: 50.4}) == pytest.approx(0.2)
    assert beyond_linear(others | {4 * MILLION: 37.8}) == pytest.approx(-0.1)


def test_two_sizes_have_a_line_and_nothing_to_compare_it_with() -> None:
    two = {records: POINTS[records] for records in (MILLION, 2 * MILLION)}
    assert beyond_linear({MILLION: 1.0, 2 * MILLION: 2.0}) is None
    assert growth(two) == (
        "Growth by least squares: peak memory 300 MiB and 1000 MiB for each million records; time 2.0 s and "
        "10.0 s for each million; processor time 2.0 s and 10.0 s for each million."
    )
    assert growth({MILLION: POINTS[MILLION]}) == ""


def test_a_line_that_is_not_above_zero_there_is_no_measure() -> None:
    assert beyond_linear({MILLION: 9.0, 2 * MILLION: 5.0, 4 * MILLION: 9.0}) is None


def test_growth_says_how_far_the_largest_is_from_linear() -> None:
    assert growth(POINTS).splitlines()[1:] == [
        "At 4,000,000 records the time is 20% above the line through the smaller tables.",
        "At 4,000,000 records the processor time is 0% from the line through the smaller tables.",
        "At 4,000,000 records the peak memory is 0% from the line through the smaller tables.",
    ]
    low = growth(POINTS | {4 * MILLION: Usage(37.8, 37.0, 5.0, 4300.0)})
    assert "the time is 10% below the line" in low


def test_runs_count_by_medians() -> None:
    runs = [Usage(1, 5, 0.3, 90, 1), Usage(3, 4, 0.1, 70, 2), Usage(2, 9, 0.2, 80, 1)]
    assert middle(runs) == Usage(2, 5, 0.2, 80, 2)
    assert middle(runs).processor == 5.2


def test_a_row_counts_bytes_beyond_the_libraries() -> None:
    text = row(2**20, Usage(12.34, 10.04, 2.0, 1300.0), 300.0)
    assert text == "| 1,048,576 | 12.3 s | 12.0 s (10.0 + 2.0) | 1.27 GiB | 1,000 |"
    assert len({cells.count("|") for cells in (*HEADER.splitlines(), text)}) == 1
    assert memory(310.4) == "310 MiB"


def test_the_picture_has_a_curve_for_both_times_and_the_memory() -> None:
    root = ElementTree.fromstring(picture(POINTS))
    assert len(root.findall(f"{SVG}polyline")) == 3
    assert len(root.findall(f"{SVG}circle")) == 9


def test_mapped_libraries_count_once_and_the_rest_of_each_process() -> None:
    assert together([(500, 200), (150, 100), (40, 40)]) == 300 + 50 + 0 + 200
    assert together([]) == 0


def test_the_tree_has_what_runs_below_a_process_and_nothing_else() -> None:
    wait = "import sys; print(flush=True); sys.stdin.read()"
    start = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {wait!r}]); p.wait()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    parents: dict[int, int] = {}
    with subprocess.Popen([sys.executable, "-c", start], **pipes) as process:
        process.stdout.readline()
        found = tree(process.pid, {process.pid}, parents)
        assert len(found) == 2 and os.getpid() not in found
        (child,) = found - {process.pid}
        assert parents[child] == process.pid
        process.stdin.close()
        process.wait()
    assert child not in tree(os.getpid(), {child}, parents)
    assert child not in parents


BLOCKS = """
import subprocess, sys, time
def held(mib):
    block = bytearray(b"x") * (mib * 2**20)
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, *sys.orig_argv[1:], "child"], check=True)
    time.sleep(0.3)
held(100)
print("said", file=sys.stderr)
"""


def test_a_command_is_measured_with_the_processes_below_it(tmp_path: Path) -> None:
    usage, said = usage_of([sys.executable, "-c", BLOCKS], folder=tmp_path)
    one, _ = usage_of([sys.executable, "-c", BLOCKS, "child"], folder=tmp_path)
    assert said == "said\n" * 2
    assert (usage.processes, one.processes) == (2, 1)
    assert 100 < one.peak < 140
    assert 200 < usage.peak < 250
    assert usage.seconds > 0.6  # both sleep
    assert usage.processor > one.processor > 0


def test_a_command_that_fails_says_why_and_ends_the_benchmark(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"must end with 0, got 3\."):
        usage_of([sys.executable, "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"], folder=tmp_path)
    assert capfd.readouterr().err == "why"


def test_a_run_that_compiles_does_not_count() -> None:
    runs = iter([(Usage(30, 20, 1, 400), True), (Usage(3, 2, 1, 300), False), (Usage(1, 1, 1, 1), False)])
    assert scale.warm(lambda: next(runs)) == Usage(3, 2, 1, 300)
    with pytest.raises(SystemExit, match="all kernels compiled after 3 runs"):
        scale.warm(lambda: (Usage(30, 20, 1, 400), True))


def test_releases_of_few_records_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_PIPELINE_RELEASES", "/nowhere")  # of the user's own projects: it must not count
    plot = tmp_path / "plot.svg"
    assert scale.main(["--records", "2000", "--repeats", "1", "--plot", str(plot)]) == 0
    machine, _, head, rule, cells = capsys.readouterr().out.strip().splitlines()
    assert f"{os.cpu_count()} CPUs" in machine and "medians of 1" in machine
    assert f"{head}\n{rule}" == HEADER
    assert cells.startswith("| 2,000 | ")
    assert 100 < int(cells.split(" | ")[3].removesuffix(" MiB")) < 1000
    assert ElementTree.parse(plot).getroot().tag == f"{SVG}svg"


def test_many_records_are_several_generated_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "WRITE", scale.WRITE.replace("10_000_000", "30"))
    scale.write_source(70, tmp_path)
    (file,) = tmp_path.glob("*.parquet")
    found = pd.read_parquet(file)
    pieces = [patients(30), patients(30, seed=1), patients(10, seed=2)]
    pd.testing.assert_frame_equal(found, pd.concat(pieces, ignore_index=True), check_dtype=False)


def test_columns_may_be_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(scale, "made", lambda *about: seen.append(about[3]) or (Usage(1, 1, 1, 1), False))
    for words in ([], ["--scratch", str(tmp_path / "fast")]):
        monkeypatch.setattr(scale, "warm", lambda once: once()[0])
        scale.main(["--records", "1", "--repeats", "1", *words])
    assert [more for more in seen if more] == [{"ANON_PIPELINE_SCRATCH": str(tmp_path / "fast")}]


def test_a_table_may_be_divided_first(tmp_path: Path) -> None:
    scale.write_source(6_000, tmp_path)
    usage, _ = scale.release_divided(tmp_path, jobs=2)
    assert usage.processes >= 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.parquet"]


def test_records_and_repeats_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--records", "0"], ["--repeats", "0"]):
        with pytest.raises(SystemExit, match="2"):
            scale.main(words)
    assert "must be 1 or more" in capsys.readouterr().err


def test_the_policy_is_the_demos_with_a_file() -> None:
    demos, changed = (
        yaml.safe_load(scale.POLICY.read_text(encoding="utf-8")),
        yaml.safe_load(scale.policy_text()),
    )
    source = changed["attributes"].pop("source")
    assert source.pop("limits")["rows"] == 10**9
    assert source == {"path": "patients.parquet", "format": "parquet"}
    assert demos["attributes"].pop("source")["generate"] == "patients"
    assert changed["attributes"].pop("one_record_per_person") is True
    assert changed == demos


@pytest.mark.parametrize("variation", VARIATIONS, ids=lambda variation: variation.title)
def test_variations_are_policies_of_the_file_that_is_written(variation: scale_more.Variation) -> None:
    attributes = yaml.safe_load(changed_policy(variation))["attributes"]
    policy = policy_from(attributes)
    assert policy.source.path == f"{variation.kind}.{variation.form}"
    assert {*variation.change} <= {*attributes}
    assert {*attributes["columns"]} >= {"name", "diagnosis"}


def test_a_variation_is_compared_with_the_first_row() -> None:
    first = Usage(9.0, 8.0, 2.0, 800.0)
    assert line("the demo's", first, first) == "| the demo's | 800 MiB | 10.0 s |"
    assert (
        line("more", Usage(9.0, 12.0, 3.0, 1000.0), first) == "| more | 0.98 GiB (× 1.25) | 15.0 s (× 1.50) |"
    )


def test_variations_of_few_records_are_measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale_more, "VARIATIONS", [v for v in VARIATIONS if v.kind == "texts"])
    assert scale_more.main(["--records", "2000"]) == 0
    assert "| one more text column" in capsys.readouterr().out.splitlines()[-1]
