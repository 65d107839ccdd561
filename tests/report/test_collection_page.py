"""The page of a collection: what a privacy officer asks first, all escaped, small for many releases."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.limits.meanings import OVER_NOISE
from anon_pipeline.report.collection_figures import collection_figures
from anon_pipeline.report.collection_page import LISTED, collection_page
from tests.cli.test_comparison_page import NASTY, Tags
from tests.report.test_collection_figures import manifest, verdict

SUMS = {"policies": 1, "records": 300, "released": 270, "classes": 30, "smallest": 4, "shared": 0}


def document(**changes: Any) -> dict[str, Any]:
    known = {"release": "x", "anon_pipeline": "0.2.0", "keys_checked": True, "together": SUMS}
    return known | changes


def text(page: bytes) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.decode().partition("<body>")[2])))


def several(*names: str, **changes: Any) -> list[tuple[str, dict[str, Any]]]:
    k = verdict("k", 4.0, bound=3.0, sense="at least")
    return [(name, manifest(k, partition=name, **changes)) for name in names]


def test_it_says_what_came_in_what_is_out_and_what_is_promised() -> None:
    parts = several("a.1", "a.2", "a.3")
    parts[1][1]["files"] = [{"records": 99}]
    parts[2][1]["files"] = [{"records": 81}]
    said = text(collection_page(document(), collection_figures(parts)))
    for sentence in (
        "270 released, of 300",
        "30 of 300 records (10 %). Least in a.2 (1 %), most in a.3 (19 %).",
        "smallest class 4 records k promised 3",
        "Yes. When this page was made, there was one release of each key that the policy lists.",
        "No class has records in more than one release.",
        "✓ Passed.",
        "where a limit compares with the whole input, that is the input of that release",
        "3 releases that belong together",
    ):
        assert sentence in re.sub(r"(?<=\.) +(?=[A-Z])", " ", said), sentence


def test_noise_is_spoken_of_only_where_a_release_has_some() -> None:
    def said(*passed_through: bool) -> str:
        linking = verdict("linking_risk", None, bound=0.2)
        facts = manifest()["facts"]
        parts = [
            (
                f"a.{i}",
                manifest(linking, partition=f"a.{i}", facts=facts | {"perturbed": {"passed_through": p}}),
            )
            for i, p in enumerate(passed_through)
        ]
        return text(collection_page(document(), collection_figures(parts)))

    plain, mixed = said(True, True), said(True, False)
    assert "The share of released records that lie nearest to the record that they come from" in plain
    assert OVER_NOISE in mixed
    assert "over the noise" not in plain


def test_what_is_promised_stands_there_once_and_says_where_not_all_do() -> None:
    parts = several("a.1", "a.2", guarantee=["Left out: name.", "k = 3."])
    parts += several("a.3", guarantee=["k = 3.", "k = 3.", "Masked: phone."])
    said = text(collection_page(document(), collection_figures(parts)))
    _, _, promised = said.partition("by its own manifest: ")
    assert promised.startswith(
        "Left out: name. (in 2 of 3 releases) k = 3. Masked: phone. (in 1 of 3 releases)"
    )


def test_many_different_promises_are_cut() -> None:
    parts = [one for n in range(60) for one in several(f"a.{n}", guarantee=[f"x {n}.", f"y {n}."])]
    said = text(collection_page(document(), collection_figures(parts)))
    assert "And 20 more sentences: see the reports of the releases." in said
    assert "x 49." in said and "x 50." not in said


def test_without_a_list_of_keys_it_says_so() -> None:
    said = text(collection_page(document(keys_checked=False), collection_figures(several("a.1"))))
    assert "It was not compared with a list of keys" in said and "Yes. When" not in said
    assert "Least in" not in said


def test_shared_classes_policies_and_people_are_said() -> None:
    facts = {"raw": {"records": 9}, "deidentified": {"people": 5}, "suppressed": {"released_people": 4}}
    sums = SUMS | {"shared": 2, "policies": 3}
    said = text(collection_page(document(together=sums), collection_figures(several("a", "b", facts=facts))))
    assert "2 of 30 classes have records in more than one release" in said
    assert "3 different ones" in said
    assert "8 released, of 10; a person in several releases is counted in each of them" in said
    assert "4 of 5" in said and "at least k people" in said


def test_releases_that_are_not_added_up() -> None:
    parts = [*several("a"), ("b", manifest(kind="synthetic", records=5, partition=None))]
    said = text(collection_page(document(together=None, release=None), collection_figures(parts)))
    assert "2 releases: report on all releases" in said
    assert "a release of classes, a synthetic release" in said
    assert "The releases are not added up" in said


def test_classes_that_were_not_counted_are_left_out() -> None:
    sums = SUMS | dict.fromkeys(("classes", "smallest", "shared"))
    said = text(collection_page(document(together=sums), collection_figures(several("a"))))
    assert "None" not in said.replace("Warnings None.", "") and "smallest class 4" not in said


def test_warnings_and_accepted_risks_have_tables_of_their_own() -> None:
    warned = verdict("rare_texts.note", 0.2, bound=0.1, status="warned")
    review = verdict("accepted.reviewed", None, bound=None, sense="holds", status="warned")
    loose = review | {"limit": "accepted.gate.linking"}
    page = collection_page(document(), collection_figures([("f", manifest(warned, review, loose))]))
    said = text(page)
    assert "⚠ Passed with warnings" in said
    assert "No second person has confirmed the policy of 1 of 1 releases." in said
    assert "gate.linking 1 f" in said and "reviewed" not in said
    assert "at most 0.1 0.2 1 f" in said
    assert page.count(b'<th scope="row">rare_texts.note</th>') == 1


def test_people_with_several_records_stand_before_what_is_said_of_records() -> None:
    repeated = verdict("repeated_people", None, bound=None, sense="holds", status="warned")
    parts = [("a", manifest(repeated)), ("b", manifest())]
    said = text(collection_page(document(), collection_figures(parts)))
    assert "⚠ People may have several records in 1 of 2 releases (repeated_people)." in said
    assert "The bounds of these limits are advice: a release that exceeds one is published" in said
    sure = text(collection_page(document(), collection_figures([("b", manifest())])))
    assert "several records" not in sure and "are advice" not in sure


def test_everything_is_escaped_and_nothing_is_fetched() -> None:
    nasty = verdict(f"x{NASTY}", 0.2, status="warned")
    parts = [(NASTY, manifest(nasty, partition=NASTY, report={"name": f"{NASTY}.html"}))]
    page = collection_page(document(release=NASTY), collection_figures(parts)).decode()
    assert "<script>" not in page and page.count("&lt;script&gt;") >= 6
    tags = Tags(page)
    links = [one for one in tags.fetched if not one.startswith("a #")]
    assert len(links) == 1 and links[0].startswith("a ./%3Cscript%3E")
    assert "default-src 'none'" in page


def test_thousands_of_releases_stay_a_small_page() -> None:
    parts = several(*(f"a.{number:05}" for number in range(5 * LISTED)))
    least = verdict("k", 3.0, bound=3.0, sense="at least")
    parts[-1][1]["gate"] = parts[-1][1]["gate"] | {"verdicts": [least]}
    page = collection_page(document(), collection_figures(parts))
    assert page.count(b'<a href="./') == LISTED
    said = text(page)
    assert "And 4,000 more releases, which collection.json lists" in said
    assert "a.04999" in said  # the worst, though it has no row
    assert len(page) < 1_200_000


def test_equal_figures_make_equal_bytes() -> None:
    first, second = (collection_page(document(), collection_figures(several("a", "b"))) for _ in "12")
    assert first == second


CHECKS = Path(__file__).with_name("checks.js").read_text()
CONTRASTS = Path(__file__).with_name("contrasts.js").read_text()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A page with each of its tables."""
    verdicts = (
        verdict("k", 4.0, bound=3.0, sense="at least"),
        verdict("linking_risk", None),
        verdict("contract", None, bound=None, sense="holds"),
        verdict("rare_texts.note", 0.2, bound=0.1, status="warned"),
        verdict("accepted.reviewed", None, bound=None, sense="holds", status="warned"),
    )
    parts = [(f"a.{number}", manifest(*verdicts, partition=f"a.{number}")) for number in range(30)]
    path = tmp_path / "report.html"
    path.write_bytes(collection_page(document(), collection_figures(parts)))
    return path


@pytest.mark.parametrize("width", [1280, 360])
def test_it_is_as_accessible_as_each_report(browser: Any, file: Path, width: int) -> None:
    asked = []
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_load_state("networkidle")
    assert page.evaluate(CHECKS) == ["links lead somewhere on the page"]  # these lead to the reports
    assert asked == [file.as_uri()]
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough(browser: Any, file: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(file.as_uri())
    assert page.evaluate(CONTRASTS)["text"] >= 4.5
    page.close()


def test_limits_without_a_published_value_have_a_table_of_their_own(file: Path) -> None:
    page = file.read_text()
    worst, _, others = page.partition("Limits whose values are not published")
    assert others.count(">linking_risk</th>") == 1 and ">linking_risk</th>" not in worst
    assert "0 of 30" in others and "30 of 30" in worst
    assert "without a number: contract." in page
