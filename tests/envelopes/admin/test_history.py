"""Nothing of the past can be changed through the admin, by anybody."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client

from envelopes.approvals.service import decide
from envelopes.models import Artifact, Event, Participant, Session, Turn
from tests import factories
from tests.envelopes.admin.pages import (
    MODELS,
    client_of,
    one_of_each,
    parsed,
    registered,
    text_of,
    url,
    viewer,
)

pytestmark = pytest.mark.django_db

models = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


@pytest.fixture
def root() -> Client:
    """Somebody for whom every permission check says yes."""
    return client_of(factories.make_user(superuser=True))


def stored(model: type[Model]) -> list[dict[str, Any]]:
    return list(model._default_manager.order_by("pk").values())


@models
def test_add_is_refused(model: type[Model], root: Client) -> None:
    one_of_each()
    before = stored(model)

    assert [root.get(url(model, "add")).status_code, root.post(url(model, "add"), {}).status_code] == [
        403,
        403,
    ]
    assert stored(model) == before


@models
def test_change_is_refused_and_the_page_has_no_field_to_change(model: type[Model], root: Client) -> None:
    row = one_of_each()[model]
    before = stored(model)

    page = root.get(url(row, "change"))
    posted = root.post(url(row, "change"), {"title": "x", "state": "granted", "name": "x", "_save": "Save"})

    assert (page.status_code, posted.status_code) == (200, 403)
    assert stored(model) == before
    content = next(element for element in parsed(page.content).iter() if element.get("id") == "content-main")
    names = {
        element.get("name")
        for element in content.iter()
        if element.tag in ("input", "select", "textarea", "button")
    }
    assert names - {None, "csrfmiddlewaretoken"} <= {"asked_as", "reason", "decision"}


@models
def test_delete_is_refused_one_by_one_and_in_bulk(model: type[Model], root: Client) -> None:
    row = one_of_each()[model]
    before = stored(model)

    assert [
        root.get(url(row, "delete")).status_code,
        root.post(url(row, "delete"), {"post": "yes"}).status_code,
    ] == [403] * 2
    root.post(
        url(model, "changelist"), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    )

    assert stored(model) == before


@models
def test_every_concrete_field_is_read_only(model: type[Model], root: Client) -> None:
    row = one_of_each()[model]
    response = root.get(url(row, "change"))
    form = response.context["adminform"]

    shown = {str(getattr(name, "__name__", name)).removesuffix("_json") for name in form.readonly_fields}
    hidden = {*registered(model).secret_fields, "id"}
    assert {field.name for field in model._meta.concrete_fields} - hidden <= shown
    assert not form.form.fields


@models
def test_no_action_of_django_is_offered(model: type[Model], rf: Any, root: Client) -> None:
    request = rf.get("/")
    request.user = factories.make_user(superuser=True)

    assert set(registered(model).get_actions(request)) <= {"deny_selected"}


def test_what_is_no_page_of_its_own_is_not_registered() -> None:
    assert not {Event, Participant} & set(admin.site._registry)


@models
def test_the_object_history_is_there(model: type[Model]) -> None:
    assert viewer().get(url(one_of_each()[model], "history")).status_code == 200


def test_what_was_done_is_told_in_one_way_by_both_logs() -> None:
    approval = factories.make_approval(factories.make_session())
    staff = factories.make_user("gh", superuser=True)
    type(staff).objects.filter(pk=staff.pk).update(first_name="Grace", last_name="Hopper")
    decide(approval.approval_id, "denied", factories.make_principal(staff), source="admin")

    tree = parsed(client_of(staff).get(url(approval, "history")).content)
    tables = [element for element in tree.iter("table") if element.get("class") == "adm-log"]
    heads = [
        ["".join(cell.itertext()) for cell in table.iter("th") if cell.get("scope") == "col"]
        for table in tables
    ]
    assert heads == [["Time", "Who", "What happened"]] * 2
    times = ["".join(time.itertext()) for table in tables for time in table.iter("time")]
    assert len(times) == 3 and all(re.fullmatch(r"\d+ \w{3} \d{4}, \d\d:\d\d:\d\d", time) for time in times)
    assert "gh (" not in text_of(client_of(staff).get(url(approval, "history")).content)


def test_a_call_is_told_in_words_before_it_is_told_in_json() -> None:
    turn = factories.make_turn(factories.make_session())
    error = {"code": "system_down", "message": "The shop is <b>closed</b>."}
    tries = [{"seconds": 0.5, "ended": "raised", "error": "SystemDown"}]
    call = factories.make_call(turn, state="failed", error=error, tries=tries)
    with factories.acting(factories.make_tool()):
        page = viewer().get(url(call, "change")).content
    shown = text_of(page)

    assert "Failed after 0.5 s: SystemDown." in shown and b"<ol>" not in page
    assert "The shop is <b>closed</b>." in shown and shown.index("The shop") < shown.index("system_down")
    facts = next(element for element in parsed(page).iter("dl") if element.get("class") == "b-facts")
    assert "".join(facts.itertext()).startswith("OrderA17Amount40")


def test_no_stored_field_is_shown_as_python_writes_it() -> None:
    turn = factories.make_turn(factories.make_session())
    Turn.objects.filter(pk=turn.pk).update(originators=[{"principal": "user:4", "consumes": []}])
    page = viewer().get(url(turn, "change")).content

    assert b"&#x27;principal" not in page and b"&quot;principal&quot;" in page


def test_the_pages_of_a_file_need_nothing_of_its_storage(settings: Any) -> None:
    artifact = one_of_each()[Artifact]
    client = viewer()
    settings.BEACH_ARTIFACT_STORAGE = "nowhere"

    assert client.get(url(artifact, "change")).status_code == 200
    assert client.get(url(Artifact, "changelist")).status_code == 200


def test_long_json_is_cut_with_a_notice_and_can_be_had_whole() -> None:
    turn = factories.make_turn(factories.make_session())
    Turn.objects.filter(pk=turn.pk).update(results={"a": "x" * 60_000, "zz": "LAST"})
    client = viewer()

    page = client.get(url(turn, "change"))
    whole = client.get(url(turn, "raw", "results"))

    assert "Showing the first 20,000 of 60," in text_of(page.content)
    assert b"LAST" not in page.content and b"LAST" in whole.content
    assert (
        whole["Content-Disposition"].startswith("attachment") and whole["X-Content-Type-Options"] == "nosniff"
    )
    assert whole["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("field", ["public_id", "session", "nothing", "__class__"])
def test_only_json_fields_can_be_had(field: str) -> None:
    assert viewer().get(url(factories.make_turn(factories.make_session()), "raw", field)).status_code == 404


def test_the_turn_shows_its_envelope_once_it_has_one() -> None:
    client = viewer()
    turn = factories.make_turn(factories.make_session())
    factories.add_part(turn, "response", text="One flight fits.")
    before = text_of(client.get(url(turn, "change")).content)
    factories.settle_turn(turn)
    after = text_of(client.get(url(turn, "change")).content)

    assert "available once the answer has ended" in before
    assert '"role": "agent"' in after and "One flight fits." in after


def test_a_settled_turn_without_its_rows_has_a_page_all_the_same() -> None:
    turn = factories.make_turn(factories.make_session())
    Turn.objects.filter(pk=turn.pk).update(status="settled")

    assert viewer().get(url(turn, "change")).status_code == 200


def test_a_session_of_an_actor_that_is_gone_has_a_page_all_the_same() -> None:
    session = factories.make_session(actor="gone")
    client = viewer()

    assert client.get(url(session, "change")).status_code == 200
    assert "gone" in text_of(client.get(url(Session, "changelist")).content)
