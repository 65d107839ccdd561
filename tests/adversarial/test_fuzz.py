"""Whatever is read: a named error or a result, never anything else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import AnonPipelineError, StageCrashed
from tests.adversarial import fuzz
from tests.example_counts import examples_of

YAML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def survives(target: str, data: bytes, folder: Path) -> None:
    try:
        fuzz.TARGETS[target](folder)(data)
    except StageCrashed:
        raise
    except AnonPipelineError as error:
        assert str(error)
        assert "Traceback" not in str(error)


def mutated(seed: bytes, cuts: list[tuple[float, bytes]]) -> bytes:
    for place, piece in cuts:
        at = int(place * len(seed))
        seed = seed[:at] + piece + seed[at + len(piece) // 2 :]
    return seed


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_its_seeds(target: str, tmp_path: Path) -> None:
    for seed in fuzz.seeds(target):
        survives(target, seed, tmp_path)


@pytest.mark.parametrize("target", fuzz.TARGETS)
@settings(max_examples=examples_of(40))
@given(data=st.data())
def test_spoiled_seeds_and_noise(
    target: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cut = st.tuples(
        st.floats(0, 1), st.binary(max_size=6) | st.sampled_from([b'"', b"\n", b"*", b": ", b"&a "])
    )
    seed = data.draw(st.sampled_from(fuzz.seeds(target)))
    spoiled = data.draw(
        st.binary(max_size=60) | st.lists(cut, max_size=5).map(lambda cuts: mutated(seed, cuts))
    )
    survives(target, spoiled, tmp_path_factory.getbasetemp())


@settings(max_examples=examples_of(60))
@given(attributes=YAML, section=st.sampled_from(["", "source", "columns", "gate", "publish", "anonymize"]))
def test_policies_of_any_shape(attributes: object, section: str) -> None:
    from anon_pipeline.policy import policy_from

    shaped = {section: attributes} if section else attributes
    with pytest.raises(AnonPipelineError):
        policy_from(shaped)


def test_the_fuzzer_counts() -> None:
    pytest.importorskip("atheris")
    result = fuzz.run(1, targets=["hierarchy"])
    assert result.executions > 100
    assert result.crashes == 0
    assert result.by_target == {"hierarchy": (result.executions, 0)}


def test_the_fuzzer_sees_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("atheris")
    monkeypatch.setenv("FUZZ_BROKEN", "yes")
    result = fuzz.run(5, targets=["hierarchy"], keep=tmp_path)
    assert result.crashes == 1
    assert (tmp_path / "hierarchy.log").exists()
