"""The facts of manifest version 1: words that come later are none of its."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest

from anon_pipeline.catalog.mechanisms import NOISE_MECHANISMS
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts import check_1, fields
from anon_pipeline.stages.facts import fact_rules as must

KNOWN = must.Known(Policy.model_construct(columns={}), 1)
CAME_LATER = {
    *("fixed", "top_down", "annealing", "genetic", "k_optimize"),
    *("k_member", "one_pass", "local", "forest", "given"),
}
WORDS = [
    *(("k_anonymized", "recoder", name) for name in RECODERS if name not in CAME_LATER),
    *(("perturbed", "mechanism", name) for name in NOISE_MECHANISMS),
    ("k_anonymized", "loss", "entropy"),
    ("perturbed", "republish", "sticky"),
]


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every word of the policy have one more value, as if a kind had been added to its table."""
    words = must.one_of
    with monkeypatch.context() as patch:
        patch.setattr(
            must, "one_of", lambda model, name: must.either(words(model, name), lambda v, _: v == "later")
        )
        importlib.reload(fields)
        yield
    importlib.reload(fields)


def _fields(module: ModuleType, stage: str) -> dict[str, must.Rule]:
    return dict((module.FIELDS_1 if module is check_1 else module.FIELDS)[stage])


@pytest.mark.parametrize(("stage", "field", "word"), WORDS)
def test_the_words_of_0_1_0_are_in_version_1(stage: str, field: str, word: str) -> None:
    assert _fields(check_1, stage)[field](word, KNOWN)


@pytest.mark.parametrize(("stage", "field"), sorted({word[:2] for word in WORDS}))
@pytest.mark.usefixtures("grown")
def test_a_word_that_is_added_gets_into_today_s_facts_alone(stage: str, field: str) -> None:
    again = importlib.reload(check_1)
    assert _fields(fields, stage)[field]("later", KNOWN)
    assert not _fields(again, stage)[field]("later", KNOWN)
