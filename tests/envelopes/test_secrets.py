"""R9: what is typed into an obscured field is nowhere in the clear but inside the tool that asks for it."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib.admin import site
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pydantic import BaseModel

from envelopes import intake, secrets
from envelopes.errors import AlreadyDecided
from envelopes.intake import SurfaceRefused
from envelopes.models import ClientMessage, Secret, Snapshot
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.session_state import live_sessions, snapshots
from envelopes.types import Json
from tests import factories
from tests.desk import Desk, desk, replies
from tests.markup import elements

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "hunter2-and-a-half"
CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
FORM = data(
    "a2ui-surface",
    {
        "version": "v0.9",
        "createSurface": {"surfaceId": "login", "catalogId": CATALOG, "sendDataModel": True},
        "updateDataModel": {"surfaceId": "login", "path": "/", "value": {"form": {}}},
        "updateComponents": {
            "surfaceId": "login",
            "components": [
                {"id": "root", "component": "Column", "children": ["pin", "echo", "go"]},
                {
                    "id": "pin",
                    "component": "TextField",
                    "label": "PIN",
                    "variant": "obscured",
                    "value": {"path": "/form/pin"},
                },
                {"id": "echo", "component": "Text", "text": {"path": "/form/pin"}},
                {
                    "id": "go",
                    "component": "Button",
                    "child": "gl",
                    "checks": [
                        {
                            "condition": {
                                "call": "length",
                                "args": {"value": {"path": "/form/pin"}, "min": 8},
                            },
                            "message": "At least 8 characters.",
                        }
                    ],
                    "action": {"event": {"name": "login", "context": {"pin": {"path": "/form/pin"}}}},
                },
                {"id": "gl", "component": "Text", "text": "Sign in"},
            ],
        },
    },
)


class Pin(BaseModel):
    pin: dict[str, str]


class Bank:
    seen: Json = None

    async def run(self, context: ToolContext, args: Pin) -> Json:
        self.seen = await context.reveal(args.pin)
        return {"ok": True}


def _script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    if conversation.action is None:
        return Reply([Say([FORM])])
    if not conversation.outcomes:
        return Reply([Call("sign_in", {"pin": conversation.action["context"]["pin"]})])
    return Reply([Say([{"metadata": {"partType": "response"}, "text": "Signed in."}])])


async def test_an_obscured_value_is_nowhere_in_the_clear(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bank = Bank()
    async with desk(_script, Tool("sign_in", "", Pin, bank.run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        await d.edit(ids["pin"], PASSWORD)
        html = await d.html()
        assert PASSWORD not in html
        assert "••••••" in html
        await d.act(ids["go"])
        assert await d.texts() == ["Signed in."]
        assert bank.seen == PASSWORD
        assert PASSWORD not in json.dumps([request.messages for request in d.requests])
        stored = await sync_to_async(_everything)()
        assert PASSWORD not in stored
        assert "$secret" in stored
        assert PASSWORD not in caplog.text


async def test_the_short_way_leaves_what_is_obscured_to_the_general_one() -> None:
    """A socket's edits go it; a plain field's does not come by the database's thread."""
    async with desk(_script, Tool("sign_in", "", Pin, Bank().run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        answer = await intake.edit(d.session, d.owner, "e1", ids["pin"], PASSWORD)
        assert answer["seq"]
        assert PASSWORD not in await d.html()
        stored = await sync_to_async(_everything)()
        assert PASSWORD not in stored
        assert "$secret" in stored


def _admin_pages() -> str:
    """Every page of the admin that exists: lists, searches and the page of each object."""
    staff = factories.make_user(superuser=True)
    client = Client()
    client.force_login(staff)
    found = []
    for model in site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        found.append(client.get(reverse(f"{name}_changelist")).content.decode())
        for pk in model._default_manager.values_list("pk", flat=True):
            answer = client.get(reverse(f"{name}_change", args=[pk]), follow=True)
            assert answer.status_code == 200
            found.append(answer.content.decode())
    assert len(found) > len(site._registry)
    return "\n".join(found)


async def test_no_page_of_the_admin_shows_it() -> None:
    async with desk(_script, Tool("sign_in", "", Pin, Bank().run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        await d.edit(ids["pin"], PASSWORD)
        await d.act(ids["go"])
        pages = await sync_to_async(_admin_pages)()
        assert PASSWORD not in pages
        assert d.session.public_id in pages


async def test_snapshots_answers_and_data_models_hold_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 1)
    async with desk(_script, Tool("sign_in", "", Pin, Bank().run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        answer = await d.edit(ids["pin"], PASSWORD)
        acted = await d.act(ids["go"])
        await d.say("And again")
        await d.html()
        assert PASSWORD not in json.dumps([answer, acted])
        assert await Snapshot.objects.aexists()
        assert await ClientMessage.objects.aexists()
        stored = await sync_to_async(_everything)()
        assert PASSWORD not in stored
        assert PASSWORD not in json.dumps([request.messages for request in d.requests])


async def test_an_error_does_not_repeat_it(caplog: pytest.LogCaptureFixture, settings: Any) -> None:
    caplog.set_level(logging.DEBUG)
    settings.BEACH_A2UI_LIMITS = {"text_chars": 10}
    async with desk(_script, Tool("sign_in", "", Pin, Bank().run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        for target, value in (
            (ids["pin"], PASSWORD),
            (ids["pin"], [PASSWORD]),
            (ids["go"], PASSWORD),
            ("a9-9", PASSWORD),
        ):
            with pytest.raises(SurfaceRefused) as caught:
                await d.edit(target, value)
            assert PASSWORD not in json.dumps(caught.value.as_dict())
        assert PASSWORD not in await sync_to_async(_everything)()
        assert not await Secret.objects.aexists()
        assert PASSWORD not in caplog.text


@pytest.mark.parametrize("decision", ["granted", "denied", "late"])
async def test_a_guarded_tool_gets_it_only_when_granted(
    decision: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bank = Bank()
    policy = ApprovalPolicy(question=lambda args: f"Sign in with {args.pin}?", risk="high")
    async with desk(_script, Tool("sign_in", "", Pin, bank.run, approval=policy)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        await d.edit(ids["pin"], PASSWORD)
        await d.act(ids["go"])
        assert PASSWORD not in await d.html()
        await d.decide("denied" if decision == "denied" else "granted")
        if decision == "late":
            with pytest.raises(AlreadyDecided):
                await d.decide("denied")
        assert bank.seen == (None if decision == "denied" else PASSWORD)
        assert PASSWORD not in await d.html()
        assert PASSWORD not in await sync_to_async(_everything)()
        assert PASSWORD not in await sync_to_async(_admin_pages)()
        assert PASSWORD not in caplog.text


async def test_a_surface_that_is_withdrawn_leaves_nothing() -> None:
    gone = data("a2ui-surface", {"version": "v0.9", "deleteSurface": {"surfaceId": "login"}})
    async with desk(replies([Say([FORM])], [Say([gone])])) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        await d.edit(ids["pin"], PASSWORD)
        await d.say("Forget it")
        assert PASSWORD not in await d.html()
        assert PASSWORD not in await sync_to_async(_everything)()
        with pytest.raises(SurfaceRefused):
            await d.edit(ids["pin"], PASSWORD)


async def test_checks_run_on_the_real_value() -> None:
    async with desk(_script, Tool("sign_in", "", Pin, Bank().run)) as d:
        await d.say("Sign me in")
        ids = await _ids(d)
        await d.edit(ids["pin"], "short")
        assert "disabled" in await d.html()
        await d.edit(ids["pin"], PASSWORD)
        assert "disabled" not in await d.html()


async def test_a_secret_expires_and_is_deleted() -> None:
    async with desk(_script) as d:
        handle = await sync_to_async(secrets.seal)(d.session, PASSWORD)
        assert await sync_to_async(secrets.reveal)(handle) == PASSWORD
        await sync_to_async(Secret.objects.update)(expires_at=timezone.now() - timedelta(seconds=1))
        assert await sync_to_async(secrets.reveal)(handle) is None
        # The runner may have been quicker.
        await sync_to_async(secrets.purge)()
        assert not await Secret.objects.aexists()


async def test_a_handle_of_another_conversation_opens_nothing() -> None:
    """A program can send one, as the data of an action, that it has seen elsewhere."""
    bank = Bank()
    async with desk(_script, Tool("sign_in", "", Pin, bank.run)) as d:
        elsewhere = await sync_to_async(factories.make_session)()
        handle = await sync_to_async(secrets.seal)(elsewhere, PASSWORD)
        await sync_to_async(intake.post_submission)(d.session, d.owner, "s1", "login", {"pin": handle})
        await d.quiet()
        assert await d.texts() == ["Signed in."]
        assert bank.seen is None


@pytest.mark.django_db
def test_what_has_expired_is_deleted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "PURGED_AT_ONCE", 2)
    session = factories.make_session()
    handles = [secrets.seal(session, str(number)) for number in range(4)]
    Secret.objects.exclude(token=handles[0]["$secret"]).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )

    assert [secrets.purge() for _ in range(3)] == [2, 1, 0]
    assert secrets.reveal(handles[0]) == "0"


MARKS = {"pin": "data-in", "go": "data-act"}


async def _ids(d: Desk) -> dict[str, str]:
    def read() -> dict[str, str]:
        with live_sessions.open(d.session) as view:
            surface = view.surfaces.get("tester", "login")
            assert surface is not None
            return {
                name: next(e for e in elements(surface.html()) if mark in e)["id"]
                for name, mark in MARKS.items()
            }

    return await sync_to_async(read)()


def _everything() -> str:
    """Every text of every table."""
    found = []
    for model in apps.get_models():
        found += [json.dumps(row, default=str, ensure_ascii=False) for row in model.objects.values()]
    return "\n".join(found)
