"""Rules that came after releases were made: no release by such a policy, and yet it can be verified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.cli import cli
from anon_pipeline.policy import TYPE, Policy, load_policy, policy_from
from anon_pipeline.policy.version_1 import digest_1

Small = Callable[..., Policy]
DECLARED = {"sensitivity": "declared", "input_bounds": [100, 250]}
STICKY: dict[str, Any] = {
    "record_key": "person",
    "deidentify": {"key_env": "KEY"},
    "perturb": {"republish": "sticky"},
}
SCALED = (
    "perturb.republish: sticky needs noise whose scale is public, got noise that is scaled to the class for "
    "{}. Give each sensitivity: declared and public input_bounds, or set republish: fresh."
)
UNIFORM = (
    "perturb.republish: sticky needs noise that promises ε, got mechanism: uniform for {}. These fit: "
    "discrete_laplace, staircase, discrete_gaussian."
)


@pytest.mark.parametrize(
    ("columns", "problems"),
    [
        ({}, [SCALED.format("height")]),
        ({"weight": {"role": "perturb", "resolution": 1}}, [SCALED.format("height, weight")]),
        (
            {"weight": {"role": "perturb", "resolution": 1, **DECLARED}},
            [SCALED.format("height")],
        ),
        (
            {
                "weight": {"role": "perturb", "resolution": 1, "mechanism": "uniform", **DECLARED},
                "pulse": {"role": "perturb", "resolution": 1, "mechanism": "uniform"},
            },
            [SCALED.format("height, pulse"), UNIFORM.format("weight")],
        ),
    ],
)
def test_sticky_names_every_column_whose_noise_cannot_stay(
    small_policy: Small, columns: dict[str, Any], problems: list[str]
) -> None:
    unsaid = {"without_guarantee": True} if len(columns) == 2 else {}
    with pytest.raises(PolicyError) as raised:
        small_policy(**{**STICKY, "perturb": {"republish": "sticky", **unsaid}}, columns=columns)
    assert raised.value.problems == tuple(problems)


def test_noise_of_a_public_scale_may_stay(small_policy: Small) -> None:
    flag = {"role": "perturb", "mechanism": "randomized_response", "values": ["no", "yes"]}
    for mechanism, delta in (("discrete_laplace", None), ("staircase", None), ("discrete_gaussian", 1e-6)):
        policy = small_policy(
            **{**STICKY, "perturb": {"republish": "sticky", "mechanism": mechanism, "delta": delta}},
            columns={"height": DECLARED, "flag": flag},
        )
        assert policy.lasting == ("height", "flag")


def test_fresh_noise_may_be_scaled_to_the_class(small_policy: Small) -> None:
    policy = small_policy(**{**STICKY, "perturb": {"republish": "fresh"}})
    assert policy.lasting == ()


def test_a_mistake_of_another_kind_is_listed_with_it(small_policy: Small) -> None:
    with pytest.raises(PolicyError) as raised:
        small_policy(**STICKY, name="no name!")
    assert any(line == SCALED.format("height") for line in raised.value.problems)
    assert len(raised.value.problems) == 2


def test_a_policy_that_was_allowed_is_read_to_verify_and_has_the_digest_of_then(
    small_policy: Small, tmp_path: Path
) -> None:
    """The digest stands in manifests that are out: it was computed by version 0.1.0."""
    attributes = small_policy().model_dump(mode="json", exclude_none=True)
    attributes |= {"record_key": "person", "deidentify": {"key_env": "KEY"}}
    attributes["perturb"]["republish"] = "sticky"
    with pytest.raises(PolicyError, match="height"):
        policy_from(attributes)
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    with pytest.raises(PolicyError, match="height"):
        load_policy(file)
    policy = load_policy(file, retired=True)
    assert digest_1(policy) == "60a0bea563238a5e93a05f679308d9ac7ebdb7b56a87869321184a43a57e6b60"
    assert policy.lasting == ()


def test_the_command_line_reads_it_to_verify_and_to_report_and_makes_no_release(
    small_policy: Small, tmp_path: Path
) -> None:
    file, gone = tmp_path / "policy.yaml", str(tmp_path / "release")
    attributes = small_policy().model_dump(mode="json", exclude_none=True)
    attributes |= {"record_key": "person", "deidentify": {"key_env": "KEY"}}
    attributes["perturb"]["republish"] = "sticky"
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    run = CliRunner()
    for command in (["verify", gone, "--policy", str(file)], ["report", gone, "--policy", str(file)]):
        said = run.invoke(cli, command)
        assert isinstance(said.exception, InputError), said.output  # there is no release
        assert "sticky" not in str(said.exception)
    for command in (["run", str(file)], ["check", gone, "--policy", str(file)], ["tune", str(file)]):
        said = run.invoke(cli, command)
        assert isinstance(said.exception, PolicyError), said.output
        assert "sticky" in str(said.exception)
