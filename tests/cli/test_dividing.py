"""`divide`: a table becomes partitions, and what it prints is what to do next."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from jsonschema import validate

from anon_pipeline.cli import divided_releases, dividing
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.cli.interrupts import TERMINATED
from anon_pipeline.cli.parallel_runs import Ended
from anon_pipeline.division import divide as division
from tests.cli.projects import Done, Folder
from tests.warm_process import WarmProcess

CANARY = "Quillfeather-4711"
PROGRAM = "from anon_pipeline.cli import main; main()"
PARQUET = {"path": "people.parquet", "format": "parquet"}


def project(folder: Callable[..., Folder], people: Callable[..., pd.DataFrame], **changes: object) -> Folder:
    made = folder(source=PARQUET, one_record_per_person=True, **changes)
    people(1_200).assign(person=lambda table: [f"{CANARY} {row}" for row in table.index]).to_parquet(
        made.path / "people.parquet", index=False
    )
    return made


def next_of(said: str, word: str = "Next:") -> list[str]:
    """Return the words of a command that is printed."""
    (line,) = [line for line in said.splitlines() if line.startswith(word)]
    return line.split()


def test_a_table_is_divided_and_each_partition_released(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people, gate={"t_closeness": {"illness": 0.9}})
    done = made.call("divide", "policy.yaml", "--into", "3")
    assert done.code == 0, done.err
    assert CANARY not in done.out + done.err
    assert "not protected: for the curator" in done.err
    said = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    levels = [line.split(maxsplit=1)[1] for line in done.out.splitlines() if line.startswith("level ")]
    assert re.fullmatch(r"age: .*(as it was|level \d of 3.*)", levels[0])
    assert [line.partition(":")[0] for line in levels] == ["age", "city"]
    assert re.fullmatch(
        r"illness: t = 0\.\d+ in each partition; so the policy's t holds .*", said["closeness"]
    )
    first, last = said["partitions"].removeprefix("3, ").split(" to ")
    assert said["policy"] == f"policy-{first.partition('.')[0]}.yaml"
    assert said["files"].startswith(f"partitions/{first.partition('.')[0]}: personal data")
    words = said["Next:"].split()
    assert words == [
        "anon-pipeline",
        "run",
        said["policy"],
        "--partitions",
        f"{first}...{last}",
        "--jobs",
        "2",
    ]
    run = made.call(*words[1:-2])  # in this process: other ones know nothing of what tests change
    assert run.code == 0, run.err
    assert "3 of 3 partitions published" in run.out
    released = made.path.glob("out_divided/*/*/manifest.json")
    manifests = [json.loads(path.read_text()) for path in sorted(released)]
    assert [one["partition"] for one in manifests] == [f"{first[:-1]}{part}" for part in "123"]
    assert len({json.dumps(one["facts"]["k_anonymized"]["levels"]) for one in manifests}) == 1
    for part in "123":
        place = f"out_divided/{first.partition('.')[0]}/{first[:-1]}{part}"
        verified = made.call("verify", place, "--policy", said["policy"])
        assert verified.code == 0, verified.out + verified.err


def test_the_ledger_counts_each_record_once_for_each_division(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people, budget={"epsilon": 4})  # each release spends 2
    for _ in range(2):
        done = made.call("divide", "policy.yaml", "--into", "2")
        assert made.call(*next_of(done.out)[2:-2]).code == 0
    done = made.call("divide", "policy.yaml", "--into", "2")  # it would be refused, so nothing is written
    assert done.code == 1
    assert "may spend ε = 4 per record: spent 4, requested 2, remaining 0" in done.err
    assert "4 of this was spent by partitions of other groups or divisions" in done.err
    assert len(list(made.path.glob("partitions/*/*.parquet"))) == 4


def test_a_dataset_that_was_released_whole_is_not_divided(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people, budget={"epsilon": 9})
    assert made.call("run", "policy.yaml").code == 0
    done = made.call("divide", "policy.yaml", "--into", "2")
    assert done.code == 1
    assert "needs one kind of partition for the dataset small, got listed and" in done.err


def test_what_cannot_be_divided_is_a_mistake(folder: Callable[..., Folder]) -> None:
    made = folder(anonymize={"recoder": "local"})
    done = made.call("divide", "policy.yaml")
    assert (done.code, done.out) == (2, "")
    assert "anonymize.recoder: must choose classes for the whole table" in done.err
    assert made.call("divide", "policy.yaml", "--into", "1").code == 2


def test_files_elsewhere(folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]) -> None:
    made = project(folder, small_people)
    example = shlex.split(EXAMPLES["divide"])[1:]
    done = made.call(*example, "--to", "here")
    assert done.code == 0, done.err
    assert len(list(Path(made.path / "here").glob("*.parquet"))) == 4
    assert "files       here: personal data" in done.out


def test_two_at_a_time(folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]) -> None:
    made = project(folder, small_people)
    assert made.call("run", "policy.yaml").code == 0
    done = made.call("divide", "policy.yaml", "--into", "2")
    run = made.call(*next_of(done.out)[2:])
    assert run.code == 0, run.err
    assert run.out.splitlines()[-1] == "2 of 2 partitions published"
    assert len(list(made.path.glob("out_divided/*/*/manifest.json"))) == 2
    assert made.call("verify", "out", "--policy", "policy.yaml").code == 0  # the whole is as it was


def test_as_json(folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]) -> None:
    made = project(folder, small_people, gate={"t_closeness": {"illness": 0.9}})
    document = json.loads(made.call("divide", "policy.yaml", "--into", "2", "--json").out)
    validate(document, schema_of("divide"))
    assert len(document["partitions"]) == 2
    assert (set(document["levels"]), document["classes"]) == ({"age", "city"}, None)
    assert len(list((made.path / document["files"]).glob("*.parquet"))) == 2
    assert (made.path / document["policy"]).is_file()


def test_classes_by_cuts_are_released_verified_and_collected(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people, anonymize={"recoder": "mondrian"})
    done = made.call("divide", "policy.yaml", "--into", "2")
    assert done.code == 0, done.err
    assert "classes     cut for the whole table, named by division_class in the partitions' files" in done.out
    assert made.call(*next_of(done.out)[2:-2]).code == 0
    assert made.call(*next_of(done.out, "Then:")[2:]).code == 0
    (found,) = made.path.glob("out_divided/*/collection.json")
    written = [path.read_text("utf-8", "replace") for path in found.parent.rglob("*") if path.is_file()]
    manifests = [json.loads(path.read_text()) for path in found.parent.glob("*/manifest.json")]
    assert {one["facts"]["k_anonymized"]["recoder"] for one in manifests} == {"given"}
    assert "_given_class" not in " ".join(written)
    policy = next(made.path.glob("policy-*.yaml"))
    assert made.call("verify", str(found.parent), "--policy", policy.name).code == 0


def test_the_releases_are_collected_by_the_printed_command(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people)
    done = made.call("divide", "policy.yaml", "--into", "2")
    assert made.call(*next_of(done.out)[2:-2]).code == 0
    collected = made.call(*next_of(done.out, "Then:")[2:])
    assert collected.code == 0, collected.err
    assert len(list(made.path.glob("out_divided/*/collection.json"))) == 1


def test_a_dataset_that_may_have_the_same_people_must_be_named(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people)
    assert made.call("divide", "policy.yaml", "--into", "2").code == 0
    text = (made.path / "policy.yaml").read_text()
    (made.path / "other.yaml").write_text(
        text.replace("name: small", "name: other").replace("to: out", "to: two")
    )
    assert made.call("run", "other.yaml").code == 0
    there = sorted(made.path.rglob("*.parquet"))
    done = made.call("divide", "policy.yaml", "--into", "2")
    assert done.code == 2
    assert "the ledger has a release of another dataset, whose source has the same columns" in done.err
    assert done.err.rstrip().endswith("write the name of that dataset; if not, write small")
    assert sorted(made.path.rglob("*.parquet")) == there
    for dataset in ("other", "small"):
        named = text.replace("name: small", f"name: small\n  dataset: {dataset}")
        (made.path / "policy.yaml").write_text(named)
        assert made.call("divide", "policy.yaml", "--into", "2").code == 0


def test_questions_of_init_are_counted(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people)
    path = made.path / "policy.yaml"
    path.write_text("# QUESTION: who?\n" + path.read_text())
    for command, code in (("divide", 2), ("check-policy", 2), ("review", 0), ("tune", 0)):
        done = made.call(command, "policy.yaml")
        assert "1 question of init stands in the policy" in done.err, command
        assert done.code == code, command
    assert [*made.path.glob("policy-d*.yaml")] == []


def test_a_name_that_begins_with_a_dash_and_two_at_a_time(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people)
    (made.path / "policy.yaml").rename(made.path / "-p.yaml")
    done = made.call("divide", "--into", "2", "--", "-p.yaml")
    assert done.code == 0, done.err
    run = made.call(*next_of(done.out)[2:])
    assert (run.code, run.out.splitlines()[-1]) == (0, "2 of 2 partitions published"), run.err


def test_sigterm_removes_the_copy(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folder(one_record_per_person=True)
    small_people(600).to_csv(made.path / "people.csv", index=False)
    seen = list[Path]()

    def stopped(*given: object, **more: object) -> object:
        seen.extend(made.path.rglob("copies/*.parquet"))
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        raise AssertionError

    monkeypatch.setattr(division, "plan_division", stopped)
    assert made.call("divide", "policy.yaml", "--into", "2").code == 143
    assert len(seen) == 1
    assert not list(made.path.rglob("partitions/*"))


def test_all_is_released_and_collected(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], warm: WarmProcess
) -> None:
    made = project(folder, small_people)
    run = partial(warm.run, PROGRAM, site=made.path, environment=os.environ, cwd=made.path)
    words = ["divide", "policy.yaml", "--into", "2", "--release", "--jobs", "2"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "They are removed when all releases are published." in done.stdout
    lines = done.stdout.splitlines()
    assert "2 of 2 partitions published" in lines
    assert "ledger      in each of 2 partitions (a record is in one of them): ε = 2 is booked" in done.stdout
    assert lines[-1] == "removed     the partitions' files"
    assert "Next:" not in done.stdout + done.stderr
    assert not list(made.path.glob("partitions/*"))
    (policy,) = made.path.glob("policy-*.yaml")
    (collection,) = made.path.glob("out_divided/*/collection.json")
    verified = run("verify", str(collection.parent), "--policy", policy.name)
    assert verified.returncode == 0, verified.stderr
    assert "collection  passed" in verified.stdout
    again = run(*words, "--json")
    document = json.loads(again.stdout)
    validate(document, schema_of("divide"))
    assert [one["partition"] for one in document["releases"]] == document["partitions"]
    assert document["removed"]
    assert (made.path / document["collected"] / "collection.json").exists()
    assert "2 of 2 partitions published" in again.stderr


def ended(made: Folder, monkeypatch: pytest.MonkeyPatch, *how: tuple[int, str]) -> Done:
    """Release partitions whose runs end with these exit codes and documents."""

    def run(command: object, keys: Sequence[str], jobs: int, **_: bool) -> Iterator[Ended]:
        for key, (code, said) in zip(keys, how, strict=True):
            if code == TERMINATED:
                raise SystemExit(code)
            yield Ended(key, code, said, "")

    monkeypatch.setattr(divided_releases, "run_each", run)
    return made.call("divide", "policy.yaml", "--into", "2", "--release")


PUBLISHED = json.dumps({"published": True, "verdicts": [], "advice": [], "records": 600})
REFUSED = json.dumps({"published": False, "verdicts": [{"limit": "k", "status": "refused"}], "advice": []})


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ([(0, PUBLISHED), (1, REFUSED)], 1),
        ([(0, PUBLISHED), (3, "")], 3),
        ([(70, ""), (0, PUBLISHED)], 70),
        ([(0, PUBLISHED), (TERMINATED, "")], TERMINATED),
    ],
)
def test_unless_all_are_published_the_files_are_kept(
    how: list[tuple[int, str]],
    code: int,
    folder: Callable[..., Folder],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = project(folder, small_people)
    done = ended(made, monkeypatch, *how)
    assert done.code == code
    assert "The partitions' files are kept: " in done.err
    words = next_of(done.err)
    assert words[-3:] == ["--missing", "--jobs", "2"]
    assert len(list(made.path.glob("partitions/*/*.parquet"))) == 2
    assert not list(made.path.glob("out_divided/*/collection.json"))
    monkeypatch.undo()
    made = Folder(made.path, made.capture, monkeypatch)
    assert made.call(*words[2:-2]).code == 0
    assert made.call(*next_of(done.err, "Then:")[2:]).code == 0


def test_a_signal_while_collecting_says_what_to_do_next(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(folder, small_people)

    def collect(*_: object) -> bool:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        return True

    monkeypatch.setattr(dividing, "collect_division", collect)
    done = ended(made, monkeypatch, (0, PUBLISHED), (0, PUBLISHED))
    assert done.code == TERMINATED
    assert "The partitions' files are kept: " in done.err
    assert next_of(done.err, "Then:")
    assert len(list(made.path.glob("partitions/*/*.parquet"))) == 2


def test_what_cannot_be_collected_is_kept(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both runs say that they have published, and have not."""
    made = project(folder, small_people)
    done = ended(made, monkeypatch, (0, PUBLISHED), (0, PUBLISHED))
    assert done.code != 0
    assert "The partitions' files are kept: " in done.err
    assert len(list(made.path.glob("partitions/*/*.parquet"))) == 2


def test_a_schedule_that_draws_noise_without_end_is_named(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    """The partitions have no schedule, so their gates do not see it."""
    made = project(folder, small_people, schedule={"cron": "0 3 1 * *"})
    done = made.call("divide", "policy.yaml", "--into", "2")
    assert done.code == 0
    assert "noise       the schedule draws new noise for the same source each time, and no budget" in done.err


def test_files_that_were_changed_are_noticed(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One partition is released twice, the other one not at all: no collection, and no file is removed."""
    made = project(folder, small_people)

    def run(command: Sequence[str], keys: Sequence[str], jobs: int, **_: bool) -> Iterator[Ended]:
        one, two = sorted(made.path.glob("partitions/*/*.parquet"))
        pd.read_parquet(one).to_parquet(two, compression="gzip")  # other bytes: equal files are refused
        monkeypatch.undo()
        Folder(made.path, made.capture, monkeypatch).call(*command[:2], "--partitions", "...".join(keys))
        yield from (Ended(key, 0, PUBLISHED, "") for key in keys)

    monkeypatch.setattr(divided_releases, "run_each", run)
    done = made.call("divide", "policy.yaml", "--into", "2", "--release")
    assert done.code == 1
    assert "each class in one of them" in done.err
    assert len(list(made.path.glob("partitions/*/*.parquet"))) == 2
    assert not list(made.path.glob("out_divided/*/collection.json"))


def test_files_that_cannot_be_removed(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is published and collected, and said to be."""
    made = project(folder, small_people)

    def run(command: Sequence[str], keys: Sequence[str], jobs: int, **_: bool) -> Iterator[Ended]:
        monkeypatch.undo()
        Folder(made.path, made.capture, monkeypatch).call(*command[:2], "--partitions", "...".join(keys))
        path = sorted(made.path.glob("partitions/*/*.parquet"))[1]
        path.unlink()
        path.mkdir()
        yield from (Ended(key, 0, PUBLISHED, "") for key in keys)

    monkeypatch.setattr(divided_releases, "run_each", run)
    done = made.call("divide", "policy.yaml", "--into", "2", "--release", "--json")
    assert done.code == 2
    assert "All is published. Delete what is left of the partitions' files." in done.err
    document = json.loads(done.out)
    assert document["collected"] is not None
    assert not document["removed"]


def test_a_folder_of_the_user_stays(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame], warm: WarmProcess
) -> None:
    made = project(folder, small_people)
    (made.path / "mine").mkdir()
    run = partial(warm.run, PROGRAM, site=made.path, environment=os.environ, cwd=made.path)
    done = run("divide", "policy.yaml", "--into", "2", "--release", "--to", "mine")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (made.path / "mine").iterdir()] == [".gitignore"]


def test_mistakes_of_partitions_are_not_written(folder: Callable[..., Folder]) -> None:
    done = folder().call("divide", "policy.yaml", "--release", "--mistakes-to", "m.txt")
    assert done.code == 2
    assert "--mistakes-to must be given without --release" in done.err


def test_jobs_need_releases(folder: Callable[..., Folder]) -> None:
    done = folder().call("divide", "policy.yaml", "--jobs", "2")
    assert done.code == 2
    assert "--jobs must be given with --release only" in done.err
