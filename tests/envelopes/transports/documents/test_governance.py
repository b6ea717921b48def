"""Experimental documents are shown where their stage, their flag and a person's consent let them be (seed 003)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from waffle.models import Flag

from a2ui import ComponentTarget
from a2ui.compose import Button, Surface, Text, event
from envelopes import intake
from envelopes.access import Principal, new_anonymous_owner
from envelopes.errors import Forbidden, NotFound
from envelopes.intake.fields import SurfaceRefused
from envelopes.log.read import rows_after
from envelopes.models import Consent, Document
from envelopes.protocol.surfaces import RUNTIME
from envelopes.providers.scripted import Say, text
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.documents import document_part
from envelopes.transports.documents.formats import experimental
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.governance import background
from envelopes.transports.documents.governance.consents import take_back
from envelopes.transports.documents.governance.verdicts import verdict
from tests.desk import Desk, desk, replies
from tests.envelopes.transports.documents.tables import BLOCK
from tests.envelopes.transports.documents.test_door import SCOPES, envelope, listen, sent
from tests.envelopes.transports.program import at_door
from tests.row_shapes import misfits

pytestmark = pytest.mark.django_db(transaction=True)

FLAG = BLOCK["feature_flag"]
SECRET = "The secret of the lab"
PLACEHOLDER = "This isn’t available right now."
TALK = {"ambient_mode": "push_to_talk", "consent_required": True}


def trial(stage: str = "limited_preview", **block: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "surface": "lab",
        "experimental": {**BLOCK, "rollout_stage": stage, **block},
        "components": [{"id": "words", "type": "text", "props": {"value": SECRET}}],
    }


def whole(document: dict[str, Any]) -> dict[str, Any]:
    return envelope({"op": "replace", "path": "", "value": document}, surface="lab")


def showing(*documents: dict[str, Any]) -> Any:
    """An agent that shows these, one a turn."""
    return replies(*([Say([document_part(one), text("response", "Here.")])] for one in documents))


async def flag(name: str = FLAG, **more: Any) -> Flag:
    return await sync_to_async(Flag.objects.create)(name=name, **{"superusers": False, **more})


async def person(name: str = "ines", **more: Any) -> Principal:
    user = await sync_to_async(User.objects.create_user)(name, **more)
    return Principal(user=user, name=name)


async def reasons(d: Desk) -> list[str]:
    return [row.data["reason"] for row in await d.rows("experiment")]


async def verdict_of(d: Desk) -> str:
    kept = await sync_to_async(Document.objects.get)(session=d.session)
    page = await d.html()
    assert (SECRET in page) is not bool(kept.blocked)
    assert (PLACEHOLDER in page) is bool(kept.blocked)
    assert (await reasons(d))[-1] == kept.blocked
    return str(kept.blocked)


async def look(flags: background.Flags) -> None:
    await flags.once()


# -- stages and flags -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "told", "staff", "expected"),
    [
        ("disabled", {"everyone": True}, True, "stage_disabled"),
        ("dark_launch", {"everyone": True}, True, "dark_launch"),
        ("operator_preview", {"everyone": True}, False, "not_an_operator"),
        ("operator_preview", {"everyone": True}, True, ""),
        ("limited_preview", None, True, "flag_unknown"),
        ("limited_preview", {}, True, "flag_off"),
        ("limited_preview", {"everyone": False, "authenticated": True}, True, "flag_off"),
        ("limited_preview", {"percent": 99.9, "testing": True, "languages": "en"}, True, "flag_off"),
        ("limited_preview", {"staff": True}, False, "flag_off"),
        ("limited_preview", {"staff": True}, True, ""),
        ("limited_preview", {"authenticated": True}, False, ""),
        ("limited_preview", {"everyone": True}, False, ""),
    ],
)
@pytest.mark.django_db
def test_each_reason(stage: str, told: Any, staff: bool, expected: str) -> None:
    if told is not None:
        Flag.objects.create(name=FLAG, **{"superusers": False, **told})
    user = User.objects.create_user("ines", is_staff=staff)
    session = create_session(Principal(user=user, name="Ines"), "tester")
    block = experimental.read(normalise(trial(stage)).document)
    assert block is not None

    assert verdict(block, session, "tester") == expected


async def test_what_is_not_shown_leaves_no_word_of_it_in_what_is_delivered() -> None:
    await flag()
    async with desk(showing(trial()), owner=await person()) as d:
        await d.say("Show it")
        assert await verdict_of(d) == "flag_off"
        delivered = [row for row in await d.rows() if row.audience == "delivered"]
        seen = str([row.data for row in delivered])

    assert SECRET not in seen and FLAG not in seen and BLOCK["support_summary"] not in seen


async def test_a_flag_is_on_for_users_and_groups_and_for_guests_by_everyone_alone() -> None:
    lab = await flag(authenticated=True)
    guest, _ = new_anonymous_owner()
    async with desk(showing(trial()), owner=guest) as d:
        await d.say("Show it")
        assert await verdict_of(d) == "flag_off"
        flags = background.Flags()
        await sync_to_async(Flag.objects.filter(pk=lab.pk).update)(everyone=True)
        await look(flags)
        assert await verdict_of(d) == ""

    await sync_to_async(Flag.objects.filter(pk=lab.pk).update)(everyone=None, authenticated=False)
    named, grouped = await person("named"), await person("grouped")
    lab_group = await sync_to_async(Group.objects.create)(name="lab")
    for who, give in (
        (named, lambda: lab.users.add(named.user)),
        (grouped, lambda: (lab_group.user_set.add(grouped.user), lab.groups.add(lab_group))),
    ):
        async with desk(showing(trial()), owner=who) as d:
            await d.say("Show it")
            assert await verdict_of(d) == "flag_off"
            await look(flags)
            await sync_to_async(give)()
            # By the name of a flag that has not been saved: who it is for stands in tables of its own.
            await look(flags)
            assert await verdict_of(d) == ""


async def test_a_flag_that_is_switched_takes_effect_on_what_is_on_screen_and_once() -> None:
    lab = await flag(everyone=True)
    async with desk(showing(trial()), owner=await person()) as d:
        await d.say("Show it")
        here, elsewhere = background.Flags(), background.Flags()
        for flags in (here, elsewhere):
            await look(flags)
        assert await reasons(d) == [""]

        lab.everyone = False
        await sync_to_async(lab.save)()
        for flags in (here, elsewhere, here):
            await look(flags)
        assert await verdict_of(d) == "flag_off"
        await sync_to_async(lab.delete)()
        for flags in (here, elsewhere):
            await look(flags)
        assert await verdict_of(d) == "flag_unknown"
        await flag(everyone=True)
        for flags in (here, elsewhere):
            await look(flags)
        assert await verdict_of(d) == ""
        page = await d.html()
        told = await reasons(d)

    assert told == ["", "flag_off", "flag_unknown", ""]
    # One card all along.
    assert page.count('class="b-surface"') == 1


async def test_what_was_switched_while_no_process_ran_is_seen_at_the_first_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "AT_ONCE", 1)
    await flag(everyone=True)
    first, second = {**trial(), "surface": "a"}, {**trial(), "surface": "b"}
    async with desk(showing(first, second), owner=await person()) as d:
        await d.say("Show one")
        await d.say("And the other")
        await sync_to_async(Flag.objects.update)(everyone=False)
        await look(background.Flags())
        assert await reasons(d) == ["", "", "flag_off", "flag_off"]


async def test_documents_of_before_are_held_from_the_first_look_on() -> None:
    async with at_door(replies([Say([text("response", "Hello")])]), scopes=SCOPES) as (caller, d):
        await flag(everyone=True)
        await sent(caller, d, whole(trial()))
        await sync_to_async(Document.objects.update)(flag="", blocked="")
        await sync_to_async(Flag.objects.all().delete)()
        await sync_to_async(import_module("envelopes.migrations.0025_governance").name_flags)(apps, None)
        await look(background.Flags())
        assert await verdict_of(d) == "flag_unknown"


async def test_an_agent_that_shows_it_again_changes_what_stands_there() -> None:
    await flag(everyone=False)
    plain = {"v": 1, "surface": "lab", "components": trial()["components"]}
    async with desk(
        showing(trial(), trial(), trial(support_summary="Other words.")), owner=await person()
    ) as d:
        for _ in range(3):
            await d.say("Show it")
        assert await verdict_of(d) == "flag_off"
        assert await d.texts() == ["Here."] * 3
        page = await d.html()
        assert await reasons(d) == ["flag_off"]
    assert page.count(PLACEHOLDER) == 1

    async with desk(showing(plain), name="other", owner=await person("tom")) as d:
        await d.say("Show it")
        assert SECRET in await d.html()
        assert not await sync_to_async(Document.objects.filter(session=d.session).exists)()


# -- at the door ------------------------------------------------------------------------------------------------------


async def test_a_program_hears_that_it_is_not_shown_and_followers_see_it_go_and_come() -> None:
    lab = await flag(everyone=False)
    async with at_door(replies([Say([text("response", "Hello")])]), scopes=SCOPES) as (caller, d):
        first = await sent(caller, d, whole(trial()))
        stream = await (await listen(caller, d)).seen("upToDate")
        hidden = await sent(caller, d, envelope(words("Patched"), surface="lab"))
        lab.everyone = True
        await sync_to_async(lab.save)()
        again = await sent(caller, d, envelope(words(SECRET), surface="lab"))
        await stream.seen("document")
        flags = background.Flags()
        await look(flags)
        lab.everyone = False
        await sync_to_async(lab.save)()
        await look(flags)
        await stream.seen("closed")
        await stream.cut()
        anew = await (await listen(caller, d)).seen("upToDate")
        await anew.cut()
        assert await verdict_of(d) == "flag_off"

    assert [one["shown"] for one in (first, hidden, again)] == [False, False, True]
    assert [one["version"] for one in (first, hidden, again)] == [1, 2, 3]
    (event_,) = stream.of("document")
    (op,) = event_.data["patch"]["ops"]
    assert op["path"] == "" and SECRET in str(op["value"])
    assert anew.of("document") == []


def words(value: str) -> dict[str, Any]:
    return {"op": "replace", "path": "/components/0/props/value", "value": value}


async def test_in_a_programs_conversation_nobody_is_asked_and_nothing_shown() -> None:
    await flag(everyone=True)
    async with at_door(replies([Say([text("response", "Hello")])]), scopes=SCOPES) as (caller, d):
        told = await sent(caller, d, whole(trial(**TALK)))
        assert await verdict_of(d) == "consent_needed"

    assert told["shown"] is False
    assert not await sync_to_async(Consent.objects.exists)()


# -- consent ----------------------------------------------------------------------------------------------------------


async def buttons(d: Desk) -> dict[str, ComponentTarget]:
    """Those of the question, by what they are called."""

    def read() -> dict[str, ComponentTarget]:
        with live_sessions.open(d.session) as view:
            (surface,) = [one for one in view.surfaces if one.owner == RUNTIME]
            page, name = surface.html(), surface.id
        found = Consent.objects.get(session=d.session)
        assert name == f"beach:consent:{found.public_id}" and found.summary in page
        return {
            label: ComponentTarget(RUNTIME, name, component, "")
            for label, component in labels(d, name).items()
            if label in page
        }

    return await sync_to_async(read)()


def labels(d: Desk, surface: str) -> dict[str, str]:
    """What the buttons of a surface are called now, by the last messages that named them."""
    rows = [row.data["part"]["data"] for row in rows_of(d) if row.actor == RUNTIME]
    components: dict[str, Any] = {}
    for data in rows:
        for message in data["messages"]:
            body = message.get("createSurface") or message.get("updateComponents") or {}
            if body.get("surfaceId") == surface:
                components |= {one["id"]: one for one in body["components"]}
    row = components["answers"]
    return {components[components[one]["child"]]["text"]: one for one in row["children"]}


def rows_of(d: Desk) -> Any:
    return [row for row in rows_after(d.session.pk, 0) if row.kind == "part"]


async def press(d: Desk, target: Any, who: Principal | None = None, message_id: str = "") -> Any:
    return await sync_to_async(intake.post_action)(d.session, who or d.owner, message_id or d.id(), target)


@pytest.mark.parametrize("guest", [False, True])
async def test_a_person_is_asked_by_the_runtime_and_allows_it_refuses_it_and_takes_it_back(
    guest: bool,
) -> None:
    await flag(everyone=True)
    owner = new_anonymous_owner()[0] if guest else await person()
    async with desk(showing(trial(**TALK)), owner=owner) as d:
        await d.say("Show it")
        assert await verdict_of(d) == "consent_needed"
        page = await d.html()
        assert (
            "wants to listen to you" in page
            and "Card from Beach" in page
            and BLOCK["support_summary"] in page
        )

        asked = await buttons(d)
        assert list(asked) == ["Don’t allow", "Allow"]
        assert (await press(d, asked["Allow"]))["state"] == "granted"
        assert await verdict_of(d) == ""
        with pytest.raises(SurfaceRefused):
            # What is on the page of somebody who has not seen that yet.
            await press(d, asked["Don’t allow"])
        granted = await buttons(d)
        await press(d, granted["Don’t allow any more"])
        assert await verdict_of(d) == "consent_refused"
        await press(d, (await buttons(d))["Allow"])
        assert await verdict_of(d) == ""
        said = [(row.data["decision"], row.data["by"]) for row in await d.rows("consent")]
        turns = await d.turns()

    assert said == [("granted", owner.key), ("refused", owner.key), ("granted", owner.key)]
    assert len(turns) == 1


async def test_a_click_that_is_sent_again_counts_once() -> None:
    await flag(everyone=True)
    async with desk(showing(trial(**TALK)), owner=await person()) as d:
        await d.say("Show it")
        asked = (await buttons(d))["Allow"]
        first = await press(d, asked, message_id="once")
        await press(d, (await buttons(d))["Don’t allow any more"])
        again = await press(d, asked, message_id="once")
        assert await verdict_of(d) == "consent_refused"
        assert len(await d.rows("consent")) == 2

    assert again == {**first, "repeated": True}


async def test_other_words_are_another_question() -> None:
    await flag(everyone=True)
    sly = trial(**TALK, support_summary="Listens all day.")
    async with desk(showing(trial(**TALK), sly), owner=await person()) as d:
        await d.say("Show it")
        before = await buttons(d)
        await press(d, before["Allow"])
        await d.say("More")
        assert await verdict_of(d) == "consent_needed"
        with pytest.raises(SurfaceRefused):
            await press(d, before["Allow"])
        assert list(await buttons(d)) == ["Don’t allow", "Allow"]
        assert await sync_to_async(Consent.objects.count)() == 1


async def test_nobody_else_consents() -> None:
    """Not staff, not a stranger, not a program: not even the one that owns a conversation in which a person was asked
    before it got it."""
    await flag(everyone=True)
    staff = await person("boss", is_staff=True, is_superuser=True)
    async with desk(showing(trial(**TALK)), owner=await person()) as d:
        await d.say("Show it")
        allow = (await buttons(d))["Allow"]
        for who in (staff, await person("tom"), new_anonymous_owner()[0], Principal(owner_key="peer:7")):
            with pytest.raises(Forbidden):
                await press(d, allow, who)
        assert await d.rows("consent") == []

        program = Principal(owner_key="peer:7", name="desk")
        await sync_to_async(d.session.participants.filter(role="owner").update)(user=None, owner_key="peer:7")
        for _ in range(2):
            with pytest.raises(Forbidden, match="Only a person"):
                await press(d, allow, program, message_id="same")
        assert [(row.data["decision"], row.data["by"]) for row in await d.rows("consent")] == [
            ("tried", "peer:7")
        ]
        assert await verdict_of(d) == "consent_needed"
        assert misfits(await d.rows()) == []


async def test_an_agent_forges_no_consent() -> None:
    await flag(everyone=True)
    fake = Surface("beach:consent:x", Button(Text("Allow"), event("ok")))
    sly = Surface("mine", Button(Text("Allow"), event("beach:consent", decision="granted")))
    own = Surface("mine", Button(Text("Allow"), event("consent", decision="granted"), id="root"))

    def part(surface: Surface) -> dict[str, Any]:
        return {"data": {"messages": surface.create()}, "metadata": {"partType": "a2ui-surface"}}

    script = replies(
        [Say([document_part(trial(**TALK)), text("response", "Here.")])],
        [Say([part(fake), text("response", "Fake.")])],
        [Say([part(sly), text("response", "Sly.")])],
        [Say([part(own), text("response", "Own.")])],
    )
    async with desk(script, owner=await person()) as d:
        await d.say("Show it")
        await d.say("Go on")
        assert "Fake." not in await d.texts() and "Sly." not in await d.texts()
        await press(d, ComponentTarget("tester", "mine", "root", ""))
        for name in ("beach:consent:x", "beach:consent:"):
            with pytest.raises((SurfaceRefused, NotFound)):
                await press(d, ComponentTarget(RUNTIME, name, "root", ""))
        await d.quiet()
        assert await verdict_of(d) == "consent_needed"
        assert await d.rows("consent") == []


async def test_staff_take_back_in_the_admin() -> None:
    await flag(everyone=True)
    boss = await person("boss", is_staff=True, is_superuser=True)
    async with desk(showing(trial(**TALK)), owner=await person()) as d:
        await d.say("Show it")
        await press(d, (await buttons(d))["Allow"])
        consent = await sync_to_async(Consent.objects.get)()
        with pytest.raises(Forbidden):
            await sync_to_async(take_back)(consent, await person("tom"))

        def in_admin() -> Any:
            browser = Client()
            browser.force_login(boss.user)
            listed = browser.get("/admin/envelopes/consent/")
            assert b"native-canvas-preview" in listed.content
            body = {"action": "take_back", "_selected_action": [consent.pk]}
            return browser.post("/admin/envelopes/consent/", body, follow=True)

        answer = await sync_to_async(in_admin)()
        assert b"1 taken back." in answer.content
        assert await verdict_of(d) == "consent_refused"
        assert list(await buttons(d)) == ["Allow"]
        assert [row.data["by"] for row in await d.rows("consent")] == [d.owner.key, boss.key]
        assert await sync_to_async(take_back)(consent, boss) is False


async def test_staff_read_why_in_the_timeline() -> None:
    async with desk(showing(trial()), owner=await person()) as d:
        await d.say("Show it")
        boss = await person("boss", is_staff=True, is_superuser=True)

        def read() -> str:
            browser = Client()
            browser.force_login(boss.user)
            return browser.get(f"/admin/envelopes/session/{d.session.pk}/change/").content.decode()

        page = await sync_to_async(read)()

    assert "The experimental document lab is not shown" in page
    assert f"there is no flag {FLAG}" in page
