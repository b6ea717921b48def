"""The lenient stage: what is repaired, dropped and cut, and that all of it is told."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from envelopes.transports.documents.formats import experimental
from envelopes.transports.documents.formats.coercing import Coercion, clamp_text
from envelopes.transports.documents.formats.errors import DocumentError, InvalidInput
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import apply
from envelopes.transports.documents.formats.reports import MOST, Report
from tests.envelopes.transports.documents.hostile import component, value
from tests.envelopes.transports.documents.tables import BLOCK, DOCUMENT, table


def document(*components: Any, **more: Any) -> dict[str, Any]:
    return {"v": 1, "surface": "s", "components": list(components), **more}


def told(found: Any) -> list[str]:
    return [repair.action for repair in found.report.repairs]


@pytest.mark.parametrize("row", table("normalise"))
def test_a_component_becomes_what_it_has_to_be(row: dict[str, Any]) -> None:
    sent = document(row["sent"])
    before = copy.deepcopy(sent)

    found = normalise(sent)

    assert found.document["components"] == ([] if row["made"] is None else [row["made"]])
    assert sorted(told(found)) == sorted(row.get("told", []))
    assert sent == before
    again = normalise(found.document)
    assert (again.document, told(again)) == (found.document, [])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], ""),
        (None, ""),
        ({"v": True, "surface": "s", "components": []}, "v"),
        ({"v": "1", "surface": "s", "components": []}, "v"),
        ({"v": 1.0, "surface": "s", "components": []}, "v"),
        ({"v": 1, "surface": " \ufeff", "components": []}, "surface"),
        ({"v": 1, "surface": 3, "components": []}, "surface"),
        ({"v": 1, "surface": "s"}, "components"),
        ({"v": 1, "surface": "s", "components": {}}, "components"),
        ({"v": 1, "surface": "s", "components": [], "experimental": []}, "experimental"),
    ],
)
def test_what_cannot_be_shown_is_refused(value: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        normalise(value)
    assert (refused.value.code, refused.value.path) == ("invalid_input", path)


def test_a_document_without_components_is_one() -> None:
    assert normalise(document()).document == document()


def test_a_whole_document_stays_what_it_is() -> None:
    found = normalise(DOCUMENT)

    assert [one["id"] for one in found.document["components"]] == [
        one["id"] for one in DOCUMENT["components"]
    ]
    assert found.report.repairs == []


def test_each_limit_cuts_and_says_so() -> None:
    limits = replace(
        DEFAULT_LIMITS,
        surface_chars=8, components=2, text_chars=9, markdown_chars=6, list_items=1, table_columns=1, table_rows=1,
        form_fields=1, select_options=1, chart_points=1,
    )  # fmt: skip
    long, point = "x" * 20, {"label": "a", "value": 1}

    def one(kind: str, **props: Any) -> Any:
        return normalise(document({"id": "a", "type": kind, "props": props}), limits)

    assert normalise({**document(), "surface": long}, limits).surface == "xxxxxxx…"
    assert len(normalise(document(*[{"type": "text"}] * 3), limits).document["components"]) == 2
    for found, made in (
        (one("text", value=long), {"value": "xxxxxxxx…", "tone": "normal"}),
        (one("markdown", value=long), {"value": "xxxxx…"}),
        (one("list", items=[long, 2]), {"ordered": False, "items": ["xxxxxxxx…"]}),
        (one("table", columns=["a", "b"], rows=[[1], [2]]), {"columns": ["a"], "rows": [["1"]]}),
        (one("chart", title="C", series=[point, {}]), {"title": "C", "series": [point]}),
    ):  # fmt: skip
        assert found.document["components"][0]["props"] == made
        assert set(told(found)) == {"cut"}
        assert all(repair.got > repair.allowed for repair in found.report.repairs)
    options = [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]
    form = one("form", fields=[{"id": "s", "type": "select", "options": options}, {"id": "t"}])
    (field,) = form.document["components"][0]["props"]["fields"]
    assert [option["value"] for option in field["options"]] == ["a"]
    assert told(form) == ["cut", "cut"]


def test_a_name_that_is_taken_gets_the_first_free_number() -> None:
    names = ["a", "a", "a-2", "a", "b"]
    found = normalise(document(*({"id": name, "type": "text"} for name in names)))

    assert [one["id"] for one in found.document["components"]] == ["a", "a-2", "a-2-2", "a-3", "b"]


def test_a_name_is_cut_before_its_number_is_added() -> None:
    """The source cuts ``<id>-2`` back to 64 characters, which may be a name that is taken."""
    long = "n" * 64
    found = normalise(document(*[{"id": long, "type": "text"}] * 12))
    names = [one["id"] for one in found.document["components"]]

    assert len(set(names)) == 12
    assert {len(name) for name in names} == {64}
    assert names[1] == "n" * 62 + "-2" and names[11] == "n" * 61 + "-12"


def test_a_long_name_ends_in_a_hyphen() -> None:
    (made,) = normalise(document({"id": "n" * 70, "type": "text"})).document["components"]

    assert made["id"] == "n" * 63 + "-"


def test_an_unknown_component_keeps_its_name_from_others() -> None:
    found = normalise(document({"id": "a", "type": "video"}, {"id": "a", "type": "text"}))

    assert [one["id"] for one in found.document["components"]] == ["a-2"]


def test_entries_that_are_dropped_count() -> None:
    found = normalise(document(3, {"type": "text"}, {"type": "text"}))

    assert [one["id"] for one in found.document["components"]] == ["component-2", "component-3"]


def test_what_a_form_holds_at_first_outlives_patches() -> None:
    """In the source it is lost with the first one: the normal form has another name for it than what is read."""
    state = normalise(DOCUMENT).document
    patched = apply(
        state, {"v": 1, "ops": [{"op": "replace", "path": "/components/0/props/value", "value": "x"}]}
    )
    found = normalise(patched).document

    assert found["components"][4] == state["components"][4]
    assert [one["defaultValue"] for one in found["components"][4]["props"]["fields"]] == [
        "a@example.com", 4, True, "high",
    ]  # fmt: skip


def test_a_report_is_bounded_and_says_how_much_it_leaves_out() -> None:
    found = normalise({**document(), **{f"x{number}": 1 for number in range(MOST + 20)}})

    listed = found.report.as_json()
    assert len(listed) == MOST + 1
    assert listed[-1]["message"] == "20 more repairs are not listed."


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("  a  ", "  a  "),
        (1.0, "1"),
        (1e21, "1e+21"),
        (-0.0, "0"),
        (None, "null"),
        (False, "false"),
        ([1, {"a": "ü"}], '[1,{"a":"ü"}]'),
    ],
)
def test_any_value_is_shown_as_javascript_writes_it(value: Any, made: str) -> None:
    assert Coercion(Report()).shown(value, "", 100) == made


def test_text_that_cannot_be_kept_is_replaced() -> None:
    found = normalise(document({"id": "a", "type": "text", "props": {"value": "a\0b\ud800"}}))

    assert found.document["components"][0]["props"]["value"] == "a\ufffdb\ufffd"
    assert told(found) == ["replaced"]


@pytest.mark.parametrize(("text", "made"), [("abc", "abc"), ("abcd", "ab…"), ("", "")])
def test_a_text_is_clamped_with_an_ellipsis(text: str, made: str) -> None:
    assert clamp_text(text, 3) == made


# -- experimental -----------------------------------------------------------------------------------------------------


def _block(**changed: Any) -> Any:
    return normalise(document(experimental={**BLOCK, **changed})).document["experimental"]


def test_a_block_gets_its_defaults_and_is_read_whole() -> None:
    made = normalise(document(experimental=BLOCK)).document
    found = experimental.read(made)

    assert made["experimental"] == {
        **BLOCK, "rollout_stage": "dark_launch", "ambient_mode": "disabled", "consent_required": False,
    }  # fmt: skip
    assert found is not None and found.security_review == ("Inputs are escaped.",) and not found.listens
    assert experimental.read(normalise(document(experimental=None)).document) is None


def test_a_block_in_camel_case_is_the_same() -> None:
    camel = {
        "trackId": "t", "featureFlag": "f", "supportSummary": "s", "securityReview": ["r"], "exitCriteria": ["e"],
        "rolloutStage": "operator_preview", "ambientMode": "push_to_talk", "consentRequired": True,
    }  # fmt: skip
    found = normalise(document(experimental=camel))

    assert found.document["experimental"] == {
        "track_id": "t", "feature_flag": "f", "support_summary": "s", "security_review": ["r"], "exit_criteria": ["e"],
        "rollout_stage": "operator_preview", "ambient_mode": "push_to_talk", "consent_required": True,
    }  # fmt: skip
    assert found.report.repairs == []
    block = experimental.read(found.document)
    assert block is not None and block.listens


def test_what_is_unknown_in_a_block_falls_back() -> None:
    made = _block(rollout_stage="soon", ambient_mode="always", consent_required="yes", feature_flag="a b//c")

    assert (made["rollout_stage"], made["ambient_mode"], made["consent_required"]) == (
        "dark_launch",
        "disabled",
        False,
    )
    assert made["feature_flag"] == "a-b-c"


def test_checklists_keep_what_can_be_read() -> None:
    assert _block(security_review=["a", 3, " ", *"bcdefg"])["security_review"] == ["a", "b", "c", "d"]
    assert _block(exit_criteria=["x" * 200])["exit_criteria"] == ["x" * 159 + "…"]


@pytest.mark.parametrize(
    ("changed", "path", "reason"),
    [
        ({"track_id": " "}, "experimental.track_id", "EmptyField"),
        ({"feature_flag": 3}, "experimental.feature_flag", "EmptyField"),
        ({"support_summary": None}, "experimental.support_summary", "EmptyField"),
        ({"security_review": []}, "experimental.security_review", "EmptyField"),
        ({"exit_criteria": [" ", 3]}, "experimental.exit_criteria", "EmptyField"),
        (
            {"ambient_mode": "push_to_talk", "security_review": []},
            "experimental.consent_required",
            "AmbientConsentRequired",
        ),
        ({"track_id": "", "security_review": []}, "experimental.track_id", "EmptyField"),
    ],
)  # fmt: skip
def test_a_gate_that_fails_hides_the_document(changed: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        _block(**changed)
    assert (refused.value.path, refused.value.reason) == (path, reason)


def test_listening_without_consent_is_told_in_so_many_words() -> None:
    with pytest.raises(InvalidInput, match="consent_required=true"):
        _block(ambient_mode="push_to_talk")


# -- any document -----------------------------------------------------------------------------------------------------


def run_fuzz(seeds: Iterable[int]) -> None:
    """Documents of anything: normalised they stay as they are, with no name twice, or they are refused."""
    for seed in seeds:
        random = Random(seed)
        found = normalise(document(*(component(random) for _ in range(random.randrange(6)))))
        again = normalise(found.document)

        assert (again.document, again.report.repairs) == (found.document, []), seed
        ids = [one["id"] for one in found.document["components"]]
        assert len(set(ids)) == len(ids), seed
        for one in found.document["components"]:
            names = [field["id"] for field in one["props"].get("fields", ())]
            assert len(set(names)) == len(names), seed
        with contextlib.suppress(DocumentError):
            normalise(value(random))


def test_normalising_twice_is_normalising_once() -> None:
    run_fuzz(range(400))
