"""Policies from YAML and mappings: what is read; every mistake is listed, at once, without a crash."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.policy import Policy, load_policy, parse_policy, policy_from
from tests.example_counts import examples_of

EXAMPLE = """
type: anon_pipeline.AnonymizedRelease
attributes:
  name: adult
  source: {path: ../shared/data/adult/adult.csv, format: csv, options: {sep: ";"}}
  columns:
    patient_id: {role: identifier, action: drop}
    email: {role: identifier, action: hash}
    year_of_birth: {role: generalize, hierarchy: {intervals: [2, 4, 8]}}
    sex: {role: generalize, hierarchy: {suppress: true}}
    race: {role: generalize, hierarchy: {table: hierarchies/race.csv}}
    marital-status: {role: generalize, hierarchy: {table: hierarchies/marital-status.csv}}
    height: {role: perturb, unit: cm, resolution: 0.1}
    salary-class: {role: sensitive, distance: equal}
  deidentify: {key_env: ADULT_KEY}
  anonymize: {k: 10, recoder: ola, loss: precision, suppression_limit: 0.05}
  perturb: {epsilon: 2, mechanism: discrete_laplace}
  suppress: {confidence: 0.99}
  gate: {k: 10, t_closeness: {salary-class: 0.4}, linking_risk: 0.05, suppression: 0.10}
  publish: {to: releases/adult, format: parquet}
  schedule: {cron: "0 3 * * 1", timezone: UTC, partitions: weekly}
"""
ATTRIBUTES: dict[str, Any] = yaml.safe_load(EXAMPLE)["attributes"]


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The example with one value replaced or added."""
    attributes = copy.deepcopy(ATTRIBUTES)
    inner = attributes
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = to
    return attributes


def mistakes(attributes: Any) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        policy_from(attributes)
    return list(caught.value.problems)


def test_the_example_of_the_design_parses() -> None:
    policy = parse_policy(EXAMPLE)
    assert policy.name == "adult"
    assert list(policy.identifiers) == ["patient_id", "email"]
    assert list(policy.generalized) == ["year_of_birth", "sex", "race", "marital-status"]
    assert list(policy.perturbed) == ["height"]
    assert list(policy.sensitive) == ["salary-class"]
    assert policy.released == [name for name in policy.columns if name != "patient_id"]
    assert policy.numeric == ["year_of_birth", "height"]
    assert (policy.gate_k, policy.anonymize.suppression_limit) == (10, 0.05)
    assert policy.columns["year_of_birth"].hierarchy.intervals == (2.0, 4.0, 8.0)


def test_a_file_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(EXAMPLE)
    digest = load_policy(path).digest
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())
    assert load_policy(str(path)).digest == digest


PLACES = [
    (),
    ("source",),
    ("source", "options"),
    ("columns", "patient_id"),
    ("columns", "year_of_birth"),
    ("columns", "year_of_birth", "hierarchy"),
    ("columns", "race", "hierarchy"),
    ("columns", "sex", "hierarchy"),
    ("columns", "height"),
    ("columns", "salary-class"),
    ("deidentify",),
    ("anonymize",),
    ("perturb",),
    ("suppress",),
    ("gate",),
    ("publish",),
    ("schedule",),
]


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_a_key_that_is_not_known_is_refused_everywhere(place: tuple[str, ...]) -> None:
    where = ".".join((*place, "supression"))
    [line] = mistakes(changed(*place, "supression", to=1))
    assert line.startswith(f"{where}: is not known here. ")


@pytest.mark.parametrize(
    ("place", "key", "written"),
    [
        (("perturb",), "epsilon", "epsilom"),
        (("columns", "height"), "resolution", "resolutoin"),
        ((), "anonymize", "anonymise"),
    ],
)
def test_a_required_key_that_is_misspelled_is_one_mistake(
    place: tuple[str, ...], key: str, written: str
) -> None:
    section: Any = (attributes := copy.deepcopy(ATTRIBUTES))
    for part in place:
        section = section[part]
    section[written] = section.pop(key)
    where = ".".join((*place, written))
    assert [line for line in mistakes(attributes) if "known" in line or "must be given." in line] == [
        f"{where}: is not known here. Is it {key}?"
    ]


@pytest.mark.parametrize("kind", [{"mask": [1]}, {"dates": ["year"]}, {"tree": {"a": ["b"]}}])
def test_a_key_that_is_not_known_is_refused_in_every_kind_of_hierarchy(kind: dict[str, Any]) -> None:
    broken = changed("columns", "race", "hierarchy", to={**kind, "extra": 1})
    [line] = mistakes(broken)
    assert line == f"columns.race.hierarchy.extra: is not known here. Known are {', '.join(kind)}."


@pytest.mark.parametrize("place", ["key", "key_env", "key_file"])
def test_what_may_be_a_secret_is_not_repeated(place: str) -> None:
    """Somebody may have written the key itself where the name of its place belongs."""
    secret = "pa55" + "word, not a name"
    (line, *_) = mistakes(changed("deidentify", to={place: secret if place != "key_file" else [secret]}))
    assert line.startswith(f"deidentify.{place}: ")
    assert secret not in line


def test_all_mistakes_are_listed_at_once_with_their_paths() -> None:
    attributes = copy.deepcopy(ATTRIBUTES)
    attributes["name"] = "two words"
    attributes["columns"]["sex"] = {"role": "quasi"}
    attributes["columns"]["race"]["hierarchy"] = {"table": "a.csv", "suppress": True}
    attributes["columns"]["year_of_birth"]["hierarchy"] = {"intervals": [2, 3]}
    attributes["columns"]["height"]["resolution"] = 0
    attributes["columns"]["_row"] = {"role": "insensitive"}
    attributes["anonymize"] = {"k": 1, "suppression_limit": 1}
    attributes["perturb"]["epsilon"] = -1
    attributes["suppress"] = {}
    attributes["gate"] = {"t_closeness": {"sx": 0.1}, "confidence_k": 3}
    del attributes["deidentify"]
    attributes["source"]["path"] = "{partition}.csv"
    attributes["schedule"]["partitions"] = None
    assert mistakes(attributes) == [
        "name: must be letters, digits and underscores, a letter first, got 'two words'",
        "columns.year_of_birth.hierarchy.intervals: "
        "each width must be a multiple of the one before, got 2.0 then 3.0",
        "columns.sex: role must be one of identifier, generalize, perturb, sensitive, insensitive, "
        "got 'quasi'",
        "columns.race.hierarchy: must name exactly one of table, intervals, mask, dates, tree, numbers, "
        "order, suppress",
        "columns.height.resolution: must be above 0, got 0",
        "anonymize.k: must be at least 2, got 1",
        "anonymize.suppression_limit: must be below 1, got 1",
        "perturb.epsilon: must be above 0, got -1",
        "columns: names must not begin with an underscore (reserved for private columns), got _row",
        "gate.t_closeness: must name columns with the role sensitive, got sx",
        "gate.confidence_k: needs suppress.confidence",
        "deidentify: must be given (key_env or key_file) for action: hash in email",
        "source.path: {partition} needs schedule.partitions",
    ]


def test_mistakes_beside_the_attributes_are_listed_with_the_others() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("type: wrong\nextra: 1\nattributes: {name: 5}")
    problems = list(caught.value.problems)
    assert problems[0].startswith("type: must be anon_pipeline.AnonymizedRelease; or, for other kinds")
    assert problems[0].endswith(", ".join(kind.type for kind in RELEASE_KINDS.values()))
    assert problems[1:] == [
        "only the keys type and attributes are known, got extra",
        "name: must be a text, got 5",
        "source: must be given, a mapping",
        "columns: must be given. Every column of the input, by name.",
        "anonymize: must be given, a mapping with k",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("anon_pipeline.EpsilonDPRelease", "anon_pipeline.EpsilonDpRelease"),
        ("SyntheticRelease", "anon_pipeline.SyntheticRelease"),
        ("anon_pipeline.AnonymisedRelease", "anon_pipeline.AnonymizedRelease"),
    ],
)
def test_a_misspelled_type_is_all_that_is_said(written: str, meant: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(f"type: {written}\nextra: 1\nattributes: {{name: 5}}")
    assert caught.value.problems == (f"type: is not known. Is it {meant}?",)


@pytest.mark.parametrize("text", ['{"CANARY Anna": {"age": 31}}', "CANARY: 1\nother: 2"])
def test_a_file_of_data_given_as_the_policy_is_not_quoted(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert caught.value.problems == (
        "the policy must be a mapping with type: anon_pipeline.AnonymizedRelease and attributes",
    )


@pytest.mark.parametrize(
    ("written", "instead", "hint"),
    [
        ("  gate:", "\tgate:", "line 19 is not. Indent with spaces, not with tabs."),
        ("name: adult", "name: adult: one", "Put a text with a colon in quotes"),
        ("name: adult", "name: @adult", "Put a text that begins with a sign such as @, % or ` in quotes."),
        (
            "resolution: 0.1}",
            "resolution: 0.1",
            "line 14 is not, in what begins in line 13. A comma or a closing }",
        ),
        ("[2, 4, 8]", "[2, 4, 8", "A comma or a closing ] is missing"),
        ("  anonymize:", "   anonymize:", "Begin each key of a section in the same column."),
        ('"0 3 * * 1"', '"0 3 * * 1', "in what begins in line 21. A quote is not closed."),
        ('"0 3 * * 1"', "* 3 * * 1", "Put a text that begins with * or & in quotes."),
        ("name: adult", "name: {{ env.NAME }}x", "Put a text that begins with {, [ or a quote in quotes."),
        ("name: adult", "name: - adult", "Begin a list in a line of its own, or write [one, other]."),
    ],
)
def test_text_that_is_no_yaml_is_answered_with_what_to_mend(written: str, instead: str, hint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(EXAMPLE.replace(written, instead))
    assert hint in str(caught.value)


def test_sections_that_are_not_indented_are_said_to_be_so() -> None:
    with pytest.raises(PolicyError, match="Indent what belongs below attributes"):
        parse_policy(EXAMPLE.replace("\n  ", "\n"))


def test_merge_keys_are_not_repeated_keys() -> None:
    merged = EXAMPLE.replace(
        "    sex: {role: generalize, hierarchy: {suppress: true}}",
        "    sex: &two {role: generalize, hierarchy: {suppress: true}}\n    sex2: {<<: *two}",
    )
    assert list(parse_policy(merged).generalized)[:3] == ["year_of_birth", "sex", "sex2"]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "x" * 20_000, "name: a\n"])
def test_a_table_is_no_policy(tmp_path: Path, content: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(content)
    with pytest.raises(PolicyError, match=r"ends with .yaml or .yml, got people.csv. Is it a table\?"):
        load_policy(path)
    path.write_text(EXAMPLE)  # a policy is one under any name, also with a mistake
    assert load_policy(path).name == parse_policy(EXAMPLE).name
    path.write_text(EXAMPLE.replace("sex: {role: generalize", "sex: {rol: generalize"))
    with pytest.raises(PolicyError, match="Is it role"):
        load_policy(path)


def test_a_misspelled_role_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(EXAMPLE.replace("sex: {role: generalize", "sex: {rol: generalize"))
    assert caught.value.problems == ("columns.sex: rol is not known here. Is it role?",)


def test_a_path_that_no_system_has() -> None:
    with pytest.raises(PolicyError, match="readable"):
        load_policy("a\x00b")


@pytest.mark.parametrize("attributes", [None, [1], "text", 3])
def test_attributes_must_be_a_mapping(attributes: Any) -> None:
    assert mistakes(attributes) == ["attributes: must be a mapping"]


@pytest.mark.parametrize(
    ("name", "shown"), [("1", "1"), ("yes", "1"), ("~", "None"), ("1.5", "1.5"), ('""', "")]
)
def test_column_names_must_be_texts(name: str, shown: str) -> None:
    text = EXAMPLE.replace("    sex:", f"    {name}: {{role: insensitive}}\n    sex:")
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    (problem,) = caught.value.problems
    assert problem.startswith(f"columns.{shown}: names must be texts, not empty; YAML reads no, yes, on, off")


def test_no_columns() -> None:
    assert "columns: must have at least 1 of them" in mistakes(changed("columns", to={}))
    [line] = mistakes(changed("columns", to=None))
    assert line == "columns: must be a mapping. Write each column as a key: {age: {role: generalize}}."


@pytest.mark.parametrize("value", ["text", 5, True, [1], {}, {"suppress": True, "mask": [1]}])
def test_a_hierarchy_that_is_none_or_two(value: Any) -> None:
    (line,) = mistakes(changed("columns", "sex", "hierarchy", to=value))
    assert line.startswith(
        "columns.sex.hierarchy: must name exactly one of table, intervals, mask, dates, tree, numbers, "
        "order, suppress"
    )


@pytest.mark.parametrize("value", ["text", 5, True, [1], None, {}])
def test_a_column_that_is_no_mapping(value: Any) -> None:
    (line,) = mistakes(changed("columns", "sex", to=value))
    assert line.startswith("columns.sex: ")
    assert "role" in line


@pytest.mark.parametrize("role", [[], {}, 5, None, True, ["generalize"]])
def test_a_role_that_is_no_name(role: Any) -> None:
    (line,) = mistakes(changed("columns", "sex", to={"role": role}))
    assert line.startswith("columns.sex: role must be one of")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["generalize", "perturb", "sensitive", "identifier", "hash", "ordered", "recursive"])
    | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.integers()
            | st.booleans()
            | st.none()
            | st.sampled_from(["role", "table", "tree", "intervals", "mask", "suppress", "k", "l", "path"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _paths(inner, (*path, key))
    return found


@settings(max_examples=examples_of(120), deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.sampled_from(_paths(ATTRIBUTES)), JSON, st.booleans()), min_size=1, max_size=3
    )
)
def test_whatever_stands_anywhere_is_a_policy_or_a_policy_error(
    edits: list[tuple[tuple[Any, ...], Any, bool]],
) -> None:
    attributes = copy.deepcopy(ATTRIBUTES)
    for path, value, beside in edits:
        inner: Any = attributes
        for part in path[:-1]:
            inner = inner.get(part, {}) if isinstance(inner, dict) else {}
        if isinstance(inner, dict):
            inner[f"{path[-1]}_" if beside else path[-1]] = value
    try:
        policy = policy_from(attributes)
    except PolicyError as error:
        assert error.problems
        assert all(error.problems)
    else:
        assert policy_from(policy.model_dump()).digest == policy.digest


@settings(max_examples=examples_of(60), deadline=None)
@given(JSON)
def test_whatever_is_handed_in_is_a_policy_or_a_policy_error(attributes: Any) -> None:
    with pytest.raises(PolicyError):
        policy_from(attributes)


@settings(max_examples=examples_of(60), deadline=None)
@given(st.text(alphabet=":-{}[]!&*<?|>'\"% \n#,abt19.", max_size=40))
def test_whatever_text_is_a_policy_error(text: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(text)


def test_a_policy_is_accepted_as_its_own_attributes() -> None:
    policy = policy_from(ATTRIBUTES)
    assert isinstance(policy, Policy)
    assert policy_from(policy).digest == policy.digest


@pytest.mark.parametrize(
    ("hierarchy", "said"),
    [
        ({"order": []}, "columns.age.hierarchy.order: "),
        ({"numbers": False}, "columns.age.hierarchy.numbers: "),
        ({"mask": []}, "columns.age.hierarchy.mask: "),
        ({"tree": {}}, "columns.age.hierarchy.tree: "),
    ],
)
def test_the_place_of_a_mistake_names_each_key_once(hierarchy: dict[str, Any], said: str) -> None:
    attributes = {
        "name": "x",
        "source": {"generate": "patients"},
        "columns": {"age": {"role": "generalize", "hierarchy": hierarchy}},
        "anonymize": {"k": 2},
    }
    with pytest.raises(PolicyError) as caught:
        policy_from(attributes)
    assert any(problem.startswith(said) for problem in caught.value.problems), caught.value.problems


@pytest.mark.parametrize(
    ("section", "given", "named"),
    [("source", "people.csv", "source"), ("gate", {"attacks": {"averaging": 3}}, "gate.attacks.averaging")],
)
def test_a_section_that_is_no_mapping_is_said_to_need_keys(section: str, given: Any, named: str) -> None:
    attributes = {
        "name": "a",
        "source": {"path": "a.csv"},
        "columns": {"x": {"role": "generalize", "hierarchy": {"suppress": True}}},
        "anonymize": {"k": 2},
        section: given,
    }
    [said] = mistakes(attributes)
    assert said.startswith(f"{named}: must be a mapping, got ")
    assert "Write keys and their values: " in said
