"""Functions are verbs or the noun that they return, modules are nouns; none is one bare participle or gerund.

`_counted` or `told` says that something happened, not what the function does or returns. Exceptions stand
here with their reason; a name that is no longer there must leave the lists.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "anon_pipeline"
IRREGULAR = {
    *(
        "told",
        "known",
        "drawn",
        "shown",
        "kept",
        "held",
        "said",
        "made",
        "found",
        "given",
        "written",
        "hidden",
    ),
    *(
        "seen",
        "lost",
        "left",
        "untold",
        "spread",
        "sold",
        "spent",
        "meant",
        "met",
        "bound",
        "broken",
        "chosen",
    ),
    *("taken", "grown", "lent", "sent", "built", "dealt", "felt", "thrown", "worn", "gone", "done", "frozen"),
    *("understood", "read", "split", "put", "cut"),
}
ENDING = re.compile(r"\w(ed|ing)$")
OTHER_WORDS = {
    "annealing",
    "feed",
    "need",
    "seed",
    "embed",
    "speed",
    "string",
    "thing",
    "booking",
    "heading",
    "spelling",
}
"""Nouns and verbs that only look like it."""
OF_FRAMEWORKS = ("property", "validator", "serializer", "command", "setter")
"""Decorators of what is an attribute, a hook of pydantic or a command, and no function that others call."""

FUNCTIONS = {
    "Stages of the chain, as the policy, the vault and Dagster call them": {
        *("deidentified", "perturbed", "shuffled", "suppressed", "published"),
    },
    "Context managers, named for what holds inside": {"reading", "writing"},
    "The verb `read`, with the store, memory or measurement as its object": {"read"},
    "The limit of this name": {"averaging"},
}
MODULES = {
    "Commands of one topic": {
        *(
            "cli/bundling",
            "cli/collecting",
            "cli/comparing",
            "cli/delivering",
            "cli/dividing",
            "cli/doctoring",
            "cli/drafting",
            "cli/judging",
        ),
        *(
            "cli/ledgering",
            "cli/measuring",
            "cli/profiling",
            "cli/rehearsing",
            "cli/releasing",
            "cli/reporting",
            "cli/reviewing",
        ),
        *("cli/tuning", "cli/vaulting", "cli/verifying", "cli/warming", "cli/shared"),
    },
    "Nouns of the field, or of what is drawn and sorted": {
        *("base/drawing", "base/sorting", "limits/linking", "policy/cleaning", "policy/coarsening"),
        *("policy/recoding", "policy/rendering", "publish/draws/drawing"),
        *("risk/averaging", "risk/linking", "sources/cleaning"),
    },
}


def is_bare(name: str) -> bool:
    """Tell whether a name is one participle or gerund, and nothing else; Python's own are not ours."""
    word = name.strip("_")
    return (
        not name.startswith("__")
        and "_" not in word
        and word not in OTHER_WORDS
        and (word in IRREGULAR or bool(ENDING.search(word)))
    )


def bare_functions(tree: ast.AST) -> list[str]:
    """Return the functions and methods of a syntax tree that are named by one participle or gerund."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_bare(node.name)
        and not any(word in ast.unparse(one) for one in node.decorator_list for word in OF_FRAMEWORKS)
    ]


def modules() -> dict[str, Path]:
    return {str(path.relative_to(PACKAGE).with_suffix("")): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_functions_are_verbs_or_nouns() -> None:
    excepted, found, used = set().union(*FUNCTIONS.values()), [], set()
    for module, path in modules().items():
        for name in bare_functions(ast.parse(path.read_text(encoding="utf-8"))):
            used |= {name} & excepted
            found += [f"{module}: {name}"] * (name not in excepted)
    assert not found, "Name each for what it does, or for what it returns."
    assert used == excepted, "These exceptions are not needed any more."


def test_modules_are_nouns() -> None:
    excepted = set().union(*MODULES.values())
    found = {module for module in modules() if is_bare(module.rpartition("/")[2])}
    assert found - excepted == set(), "Name each for what is in it."
    assert excepted - found == set(), "These exceptions are not needed any more."


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def _counted(values): ...", ["_counted"]),
        ("class A:\n    def told(self): ...", ["told"]),
        ("def outer():\n    async def asking(): ...", ["asking"]),
        ("def count(values): ...\ndef counted_records(n): ...\ndef need(): ...", []),
        ("class A:\n    @property\n    def drawn(self): ...", []),
    ],
)
def test_a_planted_name_is_found(code: str, found: list[str]) -> None:
    assert bare_functions(ast.parse(code)) == found
