"""Every code block of every page: YAML is read, policies are policies, Python compiles, commands exist."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from anon_pipeline.cli import cli
from anon_pipeline.policy import json_schema, policy_from

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = Draft202012Validator(json_schema())
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the blocks of a language in all pages, without their indentation, each with its page."""
    return [
        (path.name, re.sub(f"(?m)^{indent}", "", text))
        for path in PAGES
        for indent, name, text in BLOCK.findall(path.read_text(encoding="utf-8"))
        if name == language
    ]


@pytest.mark.parametrize(("page", "text"), blocks("yaml"), ids=lambda value: value[:20])
def test_yaml_is_read_and_policies_are_policies(page: str, text: str) -> None:
    document = yaml.safe_load(text)
    assert document is not None, page
    if isinstance(document, dict) and document.get("type") == "anon_pipeline.AnonymizedRelease":
        assert policy_from(document["attributes"]).name == document["attributes"]["name"]
        SCHEMA.validate(document)


@pytest.mark.parametrize(("page", "text"), blocks("python"), ids=lambda value: value[:20])
def test_python_compiles(page: str, text: str) -> None:
    assert ast.parse(text).body, page


def _commands() -> list[tuple[str, str]]:
    lines = [
        (page, re.sub(r"^\$ ", "", line).strip())
        for page, text in blocks("console")
        for line in text.replace("\\\n", " ").splitlines()
    ]
    return [(page, line) for page, line in lines if line.startswith("anon-pipeline ")]


@pytest.mark.parametrize(("page", "line"), _commands(), ids=lambda value: value[:40])
def test_commands_and_their_options_exist(page: str, line: str) -> None:
    words = shlex.split(re.split(r"[;>|]", line.replace("[", "").replace("]", ""))[0], comments=True)[1:]
    command: click.Command = cli
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    known = {option for one in command.params for option in one.opts} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known, page


def test_there_are_blocks_of_each_kind() -> None:
    assert min(len(blocks("yaml")), len(blocks("python")), len(_commands())) >= 10
