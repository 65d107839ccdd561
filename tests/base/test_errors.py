"""Named failures, and how a private stage fails without telling its data."""

from __future__ import annotations

import pickle
import runpy
import traceback
from pathlib import Path

import pytest

from anon_pipeline.base.errors import (
    AnonPipelineError,
    GateRefused,
    InfeasibleError,
    InputError,
    PolicyError,
    PublishError,
    StageCrashed,
    private_stage,
    withhold_text,
)

CANARY = "-".join(["CANARY", "7f3a"])


def everything(error: BaseException | None) -> str:
    """All text that a handler could print: the error, its traceback, and its chain, suppressed or not."""
    if error is None:
        return ""
    own = [str(error), repr(error), repr(error.args), *traceback.format_exception(error)]
    return "\n".join(own) + everything(error.__cause__) + everything(error.__context__)


def crash() -> None:
    try:
        raise KeyError(CANARY)
    except KeyError as error:
        raise ValueError(f"cannot read {CANARY}") from error


@private_stage("decorated")
def stage() -> None:
    crash()


def test_a_bug_is_reduced_to_its_type_and_place() -> None:
    with pytest.raises(StageCrashed) as caught, private_stage("raw"):
        crash()
    error = caught.value
    assert (error.stage, error.kind) == ("raw", "ValueError")
    assert error.place.startswith("test_errors.py:")
    assert str(error).startswith("The stage raw crashed with ValueError at test_errors.py:")
    assert (error.__cause__, error.__context__) == (None, None)
    assert CANARY not in everything(error)


def test_a_decorated_stage_crashes_alike() -> None:
    with pytest.raises(StageCrashed, match="The stage decorated crashed with ValueError") as caught:
        stage()
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert CANARY not in everything(caught.value)


def test_a_crash_inside_a_handler_has_no_context_either() -> None:
    with pytest.raises(StageCrashed) as caught:
        try:
            raise LookupError(CANARY)
        except LookupError:
            stage()
    assert caught.value.__context__ is None
    assert CANARY not in everything(caught.value)


class Foreign(InputError):
    """What a plugin or an own stage may derive from a named failure."""

    def __str__(self) -> str:
        return CANARY


def test_what_others_derive_from_a_named_failure_is_reduced_like_a_bug() -> None:
    with pytest.raises(StageCrashed, match="crashed with Foreign") as caught, private_stage("own_a"):
        raise Foreign(CANARY)
    assert CANARY not in everything(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "/home/anna/x.py",
        "/x.py",
        "/home/anna/project/x.py",
        "/home/anna/venv/lib/python3.11/site-packages/pandas/core/x.py",
        "/home/anna/anon_pipeline/anon_pipeline/sources/x.py",
        "<string>",
    ],
)
def test_the_place_names_no_local_folder(name: str) -> None:
    program = compile("raise ValueError('x')", name, "exec")
    with pytest.raises(StageCrashed) as caught, private_stage("raw"):
        exec(program)
    place = caught.value.place
    assert place.endswith(":1")
    assert "anna" not in str(caught.value)
    assert not place.startswith("/")
    inside = {"pandas/core/x.py:1", "anon_pipeline/sources/x.py:1", "x.py:1", "<string>:1"}
    assert place in inside


def test_the_place_of_a_file_that_was_run(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text("1 / 0\n")
    with pytest.raises(StageCrashed, match=r"ZeroDivisionError at job\.py:1"), private_stage("raw"):
        runpy.run_path(str(path))


@pytest.mark.parametrize(
    "error",
    [
        InputError("a"),
        PolicyError(["a", "b"]),
        PublishError("a"),
        InfeasibleError("a", k=5, reached_k=3, suppressed=0.1),
        GateRefused("a"),
        StageCrashed("inner", "ValueError", "x.py:1"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_named_failures_pass_through_as_they_are(error: AnonPipelineError) -> None:
    with pytest.raises(type(error)) as caught, private_stage("raw"):
        raise error
    assert caught.value is error


def test_named_failures_lose_what_they_were_raised_from() -> None:
    with pytest.raises(InputError) as caught, private_stage("raw"):
        try:
            crash()
        except ValueError as error:
            raise InputError("c: must be a number, got 1 record") from error
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert CANARY not in everything(caught.value)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_whoever_stops_the_process_is_let_through(stop: type[BaseException]) -> None:
    with pytest.raises(stop), private_stage("raw"):
        raise stop


def test_a_stage_that_ends_well_returns_its_value() -> None:
    @private_stage("raw")
    def double(x: int) -> int:
        return 2 * x

    assert [double(1), double(2)] == [2, 4]


def test_withheld_names_the_kind_alone() -> None:
    with pytest.raises(InputError) as caught, withhold_text("a.csv: must be readable", ValueError, OSError):
        crash()
    assert caught.value.problems == ("a.csv: must be readable: ValueError",)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert CANARY not in everything(caught.value)


def test_withheld_lets_other_kinds_pass() -> None:
    with pytest.raises(KeyError), withhold_text("a.csv: must be readable", ValueError, OSError):
        raise KeyError
    with pytest.raises(InputError, match=r"^told$"), withhold_text("a.csv", ValueError):
        raise InputError("told")


def test_problems_are_listed_a_line_each() -> None:
    assert InputError("one").problems == ("one",)
    error = InputError(["one", "two"])
    assert (error.problems, str(error)) == (("one", "two"), "one\ntwo")


def test_an_infeasible_policy_says_what_could_be_reached() -> None:
    error = InfeasibleError("No node is 5-anonymous.", k=5, reached_k=3, suppressed=0.1234)
    assert (error.k, error.reached_k, error.suppressed) == (5, 3, 0.1234)
    assert str(error) == "No node is 5-anonymous. On a terminal, --show-values says by how much."
    assert error.exact == (
        "Largest k within the suppression limit: 3. Keeping all limits would suppress 12.34% of the records."
    )


def test_exit_codes() -> None:
    codes = {kind.__name__: kind.exit_code for kind in (InputError, PolicyError, PublishError)}
    assert codes == {"InputError": 2, "PolicyError": 2, "PublishError": 2}
    assert (GateRefused.exit_code, InfeasibleError.exit_code, StageCrashed.exit_code) == (1, 3, 70)


def test_listed_failures_travel_between_processes() -> None:
    again = pickle.loads(pickle.dumps(InputError(["one", "two"])))
    assert (again.problems, str(again)) == (("one", "two"), "one\ntwo")
