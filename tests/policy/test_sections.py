"""The sections beside the columns: defaults, and which values are refused."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.files import SourceOptions
from anon_pipeline.policy.recoding import Anonymize, LDiversity
from anon_pipeline.policy.sections import (
    Deidentify,
    PerturbSection,
    Publish,
    Schedule,
    SuppressSection,
)
from anon_pipeline.policy.source import SOURCES, Source

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (Anonymize, {}, "Field required"),
        (Anonymize, {"k": 1}, "greater than or equal to 2"),
        (Anonymize, {"k": 0}, "greater than or equal to 2"),
        (Anonymize, {"k": -5}, "greater than or equal to 2"),
        (Anonymize, {"k": 2.5}, "valid integer"),
        (Anonymize, {"k": "four"}, "valid integer"),
        (Anonymize, {"k": True}, "must be a number, got true"),
        (Anonymize, {"k": None}, "valid integer"),
        (Anonymize, {"k": 2, "suppression_limit": -0.1}, "greater than or equal to 0"),
        (Anonymize, {"k": 2, "suppression_limit": 1}, "less than 1"),
        (Anonymize, {"k": 2, "suppression_limit": NAN}, "finite number"),
        (Anonymize, {"k": 2, "suppression_limit": False}, "must be a number, got false"),
        (Anonymize, {"k": 2, "recoder": "flash"}, "'ola', 'optimal'"),
        (Anonymize, {"k": 2, "prefer": "time"}, "'loss', 'least_absolute_distance'"),
        (Anonymize, {"k": 2, "suppress": "columns"}, "'records' or 'cells'"),
        (Anonymize, {"k": 2, "loss": "beauty"}, "'average_class_size', 'entropy' or 'classification'"),
        (Anonymize, {"k": 2, "most_nodes": 0}, "greater than or equal to 1"),
        (Anonymize, {"k": 2, "weights": {"a": 0}}, "greater than 0"),
        (Anonymize, {"k": 2, "gamma": 0.2}, "gamma must be given only with recoder: vmdav, got ola"),
        (Anonymize, {"k": 2, "gamma": -1, "recoder": "vmdav"}, "greater than or equal to 0"),
        (PerturbSection, {}, "Field required"),
        (PerturbSection, {"epsilon": 0}, "greater than 0"),
        (PerturbSection, {"epsilon": -1}, "greater than 0"),
        (PerturbSection, {"epsilon": INF}, "finite number"),
        (PerturbSection, {"epsilon": NAN}, "finite number"),
        (PerturbSection, {"epsilon": True}, "must be a number, got true"),
        (PerturbSection, {"epsilon": 1, "mechanism": "gauss"}, "'discrete_laplace'"),
        (SuppressSection, {"confidence": 0}, "greater than 0"),
        (SuppressSection, {"confidence": 1}, "less than 1"),
        (SuppressSection, {"confidence": 1.5}, "less than 1"),
        (SuppressSection, {"confidence": NAN}, "finite number"),
        (LDiversity, {"l": 0.5}, "greater than or equal to 1"),
        (LDiversity, {"l": 2.5}, "l must be a whole number for kind: distinct, got 2.5"),
        (LDiversity, {"l": 2, "kind": "recursive"}, "c must be given with kind: recursive"),
        (LDiversity, {"l": 2, "c": 3}, "c must be given with kind: recursive, and only with it"),
        (LDiversity, {"l": 2, "c": 0, "kind": "recursive"}, "greater than 0"),
        (Source, {}, f"exactly one of {', '.join(SOURCES)} must be given"),
        (
            Source,
            {"path": "a", "generate": "patients"},
            f"exactly one of {', '.join(SOURCES)} must be given",
        ),
        (Source, {"path": ""}, "at least 1 character"),
        (Source, {"generate": "people"}, "'patients'"),
        (Source, {"generate": "patients", "records": 0}, "greater than or equal to 1"),
        (Source, {"generate": "patients", "seed": -1}, "greater than or equal to 0"),
        (Source, {"path": "a", "format": "xlsx"}, "'csv', 'parquet', 'excel' or 'jsonl'"),
        (SourceOptions, {"sep": ""}, "at least 1 character"),
        (SourceOptions, {"sep": "||"}, "should match pattern"),
        (SourceOptions, {"sep": "§"}, "should match pattern"),
        (SourceOptions, {"sep": '"'}, "should match pattern"),
        (SourceOptions, {"sep": "\r"}, "should match pattern"),
        (SourceOptions, {"decimal": ";"}, "'.' or ','"),
        (Deidentify, {}, "exactly one of key_env and key_file"),
        (Deidentify, {"key_env": "A", "key_file": "b"}, "exactly one of key_env and key_file"),
        (Deidentify, {"key_env": "NOT A NAME"}, "should match pattern"),
        (Publish, {"to": ""}, "at least 1 character"),
        (Publish, {"format": "xlsx"}, "'csv' or 'parquet'"),
        (Schedule, {}, "cron or partitions must be given"),
        (Schedule, {"partitions": "listed"}, "keys must be given with partitions: listed"),
        (Schedule, {"cron": "0 3 * * 1", "keys": ["north"]}, "keys must be given with partitions: listed"),
        (Schedule, {"partitions": "daily", "keys": ["north"]}, "keys must be given with partitions: listed"),
        (Schedule, {"partitions": "listed", "keys": ["a", "a"]}, "keys must differ"),
        (Schedule, {"partitions": "listed", "keys": ["North", "north"]}, "in more than letter case"),
        (
            Schedule,
            {"partitions": "listed", "keys": ["a", "2026-01-05"]},
            "that are no dates, got '2026-01-05'",
        ),
        (Schedule, {"partitions": "listed", "keys": ["../a"]}, "be plain names"),
        (Schedule, {"cron": "@daily"}, "cron must have five fields, got '@daily'"),
        (Schedule, {"cron": "0 3 * * 1", "timezone": "Mars/Base"}, "timezone must be an IANA name"),
        (Schedule, {"cron": "0 3 * * 1", "partitions": "hourly"}, "'daily', 'weekly', 'monthly' or 'listed'"),
        (Schedule, {"cron": "0 3 * * 1", "start": "soon"}, "valid date"),
    ],
)
def test_values_that_are_refused(model: type[BaseModel], given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    assert message in "\n".join(error["msg"] for error in caught.value.errors())


def test_defaults() -> None:
    anonymize = Anonymize(k=2)
    assert (anonymize.recoder, anonymize.loss, anonymize.suppression_limit) == ("ola", "precision", 0.05)
    assert SuppressSection().confidence is None
    assert Publish() == Publish(to=None, format="parquet")
    source = Source(generate="patients")
    assert (source.records, source.seed, source.format) == (20_000, 0, "csv")
    assert SourceOptions() == SourceOptions(sep=",", encoding="utf-8", decimal=".", missing=())
    schedule = Schedule(cron="0 3 * * 1")
    assert (schedule.timezone, schedule.partitions) == ("UTC", None)
    assert schedule.start == datetime.date(2026, 1, 1)


@pytest.mark.parametrize("kept", ["none", "last", 1, 365])
def test_retain_is_no_part_of_making(small_policy: Callable[..., Policy], kept: str | int) -> None:
    changed = small_policy(vault={"retain": kept})
    assert changed.vault.retain == kept
    assert changed.making == small_policy().making
    assert (changed.digest == small_policy().digest) == (kept == "last")


@pytest.mark.parametrize("kept", ["forever", "7", "", 0, -1, 1.5, True, []])
def test_other_retentions_are_refused(small_policy: Callable[..., Policy], kept: object) -> None:
    with pytest.raises(
        PolicyError,
        match=r"^vault\.retain: must be none, last or a whole number of days, at least 1, got [^\n]+$",
    ):
        small_policy(vault={"retain": kept})
