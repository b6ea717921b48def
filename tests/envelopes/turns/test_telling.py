"""What is told of one turn, row by row."""

from __future__ import annotations

import pytest

from envelopes.turns import telling
from envelopes.turns.telling import SAID_CHARACTERS, Telling
from envelopes.types import Json, JsonObject


def _set(path: str, value: Json, surface: str = "live") -> JsonObject:
    return {"version": "v1.0", "updateDataModel": {"surfaceId": surface, "path": path, "value": value}}


def _told(*datas: Json, actor: str = "bench") -> Telling:
    telling = Telling(1)
    for seq, data in enumerate(datas):
        telling.part(1, seq, "a2ui-surface", actor, {"metadata": {"partType": "a2ui-surface"}, "data": data})
    return telling


def test_of_data_that_a_job_goes_on_changing_the_last_is_told() -> None:
    """Where it came: what is above it has been set since."""
    told = _told(*(_set("/value", number) for number in range(500)), _set("/", {}), _set("/value", 7))

    assert told.said == "[Surface live: data / = {}]\n[Surface live: data /value = 7]"


def test_other_places_other_surfaces_and_other_actors_stand_beside_it() -> None:
    told = _told(_set("/a", 1), _set("/b", 2), _set("/a", 3, "other"), _set("/a", 4))
    told.part(1, 9, "a2ui-surface", "else", {"metadata": {}, "data": _set("/a", 5)})

    assert told.said.splitlines() == [
        "[Surface live: data /b = 2]",
        "[Surface other: data /a = 3]",
        "[Surface live: data /a = 4]",
        "[Surface live: data /a = 5]",
    ]


def test_parts_that_set_several_places_are_told_by_all_of_them() -> None:
    both: list[Json] = [{"messages": [_set("/a", number), _set("/b", number)]} for number in range(3)]

    assert _told(*both).said == "[Surface live: data /a = 2, data /b = 2]"
    assert len(_told(*both, _set("/a", 9)).said.splitlines()) == 2


def test_what_also_changes_components_stays() -> None:
    changed = {"updateComponents": {"surfaceId": "live", "components": [{"id": "a", "component": "Text"}]}}
    combined = _set("/a", 1) | changed

    assert _told(combined, combined, _set("/a", 2)).said.splitlines() == [
        "[Surface live: data /a = 1, a (Text)]",
        "[Surface live: data /a = 1, a (Text)]",
        "[Surface live: data /a = 2]",
    ]


def test_before_0_9_other_names_at_the_same_place_stand_beside_it() -> None:
    def entry(key: str, value: str) -> JsonObject:
        contents: Json = [{"key": key, "valueString": value}]
        return {"dataModelUpdate": {"surfaceId": "live", "path": "/", "contents": contents}}

    told = _told(entry("a", "1"), entry("b", "2"), entry("a", "3")).said.splitlines()

    assert len(told) == 2
    assert '"2"' in told[0] and '"3"' in told[1]


def test_data_that_is_removed_is_told() -> None:
    removed = {"version": "v1.0", "updateDataModel": {"surfaceId": "live", "path": "/a"}}

    assert _told(_set("/a", 1), removed).said == "[Surface live: data /a removed]"


@pytest.mark.parametrize("data", [None, 5, {}, {"messages": 5}, {"updateDataModel": 5}, {"version": "v1.0"}])
def test_what_is_no_message_is_taken_in(data: Json) -> None:
    _told(data, data)


def test_what_is_too_much_is_counted_and_not_held() -> None:
    told = Telling(1)
    for seq in range(100_000):
        told.part(
            1, seq, "response", "bench", {"metadata": {"partType": "response"}, "text": f"Line {seq:06}."}
        )

    whole = 100_000 * len("Line 000000.\n") - 1
    assert told.said.endswith(f" (cut: {whole} characters in all)")
    assert told.size < SAID_CHARACTERS + 100
    assert len(told.lines) * len("Line 000000.\n") < SAID_CHARACTERS + 100


def test_what_goes_on_with_another_is_told_where_that_began() -> None:
    told = Telling(1)
    for seq, (part_id, text) in enumerate([("a", "One"), ("b", "Two"), ("a", ", three")]):
        metadata: JsonObject = {"partType": "response", "partId": part_id}
        told.part(1, seq, "response", "bench", {"metadata": metadata, "text": text})

    assert told.said == "One, three\nTwo"


def test_what_goes_on_a_thousand_times_is_put_in_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time it is longer: anew with each row it took seconds, in which the turn that asks holds its session."""
    made: list[int] = []
    line = telling._line

    def counted(session_pk: int, seq: int, part_type: str, part: JsonObject) -> str:
        made.append(seq)
        return line(session_pk, seq, part_type, part)

    monkeypatch.setattr(telling, "_line", counted)
    told = Telling(1)
    metadata: JsonObject = {"partType": "response", "partId": "counted"}
    for seq in range(1000):
        told.part(1, seq, "response", "bench", {"metadata": metadata, "text": f"{seq} "})
        if seq == 500:
            assert told.said == "".join(f"{number} " for number in range(501))

    assert told.size > len(told.said) and not told.is_silent
    assert told.said == "".join(f"{number} " for number in range(1000))
    assert made == [0, 500, 999]
