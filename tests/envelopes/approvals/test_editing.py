"""Edit, then approve (D20): another version with a digest and a question of its own, on the same card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group as DjangoGroup
from django.test import Client

from envelopes.access import Principal, program
from envelopes.approvals.editing import edit
from envelopes.approvals.rules import stored
from envelopes.approvals.service import decide
from envelopes.approvals.versions import told_reasons
from envelopes.errors import (
    AlreadyChanged,
    AlreadyDecided,
    Conflict,
    Expired,
    Forbidden,
    NotFound,
    ValidationFailed,
)
from envelopes.log.digest import call_digest
from envelopes.models import Approval, ToolCall
from envelopes.providers.scripted import Call, Say, text
from envelopes.providers.transcript import Injection, ToolResult, entries
from envelopes.registries.policies import OWNER, STAFF, Ask, AutoApprove, Group
from tests import factories
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

MANAGERS = Group("Travel managers")
ARGS = {"order": "A17", "amount": 40.0, "note": ""}
CHANGED = ARGS | {"amount": 12.5}


@pytest.fixture(autouse=True)
def _actor(db: None) -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def ada() -> Principal:
    return factories.make_principal(factories.make_user("ada"))


def manager() -> Principal:
    user = factories.make_user()
    user.groups.add(DjangoGroup.objects.get_or_create(name=MANAGERS.name)[0])
    return factories.make_principal(user)


def test_an_edit_is_a_new_version_with_a_digest_and_a_question_of_its_own(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    before = approval.approval_id, approval.digest

    edited = edit(approval.approval_id, CHANGED, ada)

    approval.refresh_from_db()
    call = ToolCall.objects.get(pk=approval.tool_call_id)
    assert edited.pk == approval.pk and edited.approval_id == approval.approval_id != before[0]
    assert (approval.state, approval.version, approval.args) == ("pending", 2, CHANGED)
    assert approval.digest == call.digest == call_digest("refund", CHANGED) != before[1]
    assert call.args == CHANGED and call.state == "awaiting-approval"
    assert approval.question == "Pay 12.5 back for order A17?"
    (was,) = approval.earlier.all()
    assert (was.asked_as, was.digest, was.args, was.cause, was.by, was.name) == (
        *before,
        ARGS,
        "edited",
        ada.key,
        "ada",
    )
    asked = [
        row.data["part"]
        for row in factories.log_of(approval.session, "part")
        if row.part_type == "approval-request"
    ]
    assert [part["data"]["args"] for part in asked] == [ARGS, CHANGED]
    assert asked[1]["metadata"]["replaces"] == before[0] and asked[1]["metadata"]["was"] == ARGS
    assert asked[1]["metadata"]["version"] == 2


def test_nobody_approves_what_they_have_not_read(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    staff = factories.make_principal(factories.make_user(staff=True, permissions=["decide_approval"]))
    edit(approval.approval_id, CHANGED, ada)

    with pytest.raises(AlreadyChanged, match="ada has changed this request") as told:
        decide(approval.approval_id, "granted", staff)

    approval.refresh_from_db()
    assert approval.state == "pending" and told.value.facts["approvalId"] == approval.approval_id
    assert len(factories.log_of(approval.session, "late-decision")) == 1
    assert decide(approval.approval_id, "granted", staff).args == CHANGED


def test_what_others_had_approved_before_does_not_count(ada: Principal) -> None:
    tool = factories.asking(Ask([OWNER, MANAGERS], needed=2))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(ada), tool=tool)
        decide(approval.approval_id, "granted", ada)
        edited = edit(approval.approval_id, CHANGED, manager())

        assert decide(edited.approval_id, "granted", ada).state == "pending"
        assert decide(edited.approval_id, "granted", manager()).state == "granted"
    assert [one.version for one in approval.decisions.all()] == [1, 2, 2]


def test_nor_is_the_model_told_why_they_had(ada: Principal) -> None:
    tool = factories.asking(Ask([OWNER, MANAGERS], needed=3))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(ada), tool=tool)
        decide(approval.approval_id, "granted", ada, reason="As I asked.")
        asked = edit(approval.approval_id, CHANGED, manager()).approval_id
        decide(asked, "granted", ada, reason="Less will do.")
        decide(asked, "granted", manager())
        approval.refresh_from_db()
        assert told_reasons(approval) is None
        last = manager()
        decide(asked, "granted", last, reason="The shop agrees.")

    approval.refresh_from_db()
    assert told_reasons(approval) == {
        "reasons": [{"by": "ada", "reason": "Less will do."}, {"by": last.name, "reason": "The shop agrees."}]
    }


def test_whoever_edits_under_four_eyes_does_not_decide_it(ada: Principal) -> None:
    one, other = manager(), manager()
    tool = factories.asking(Ask([MANAGERS], four_eyes=True))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(ada), tool=tool)
        edited = edit(approval.approval_id, CHANGED, one)

        with pytest.raises((Forbidden, NotFound)):
            decide(edited.approval_id, "granted", one)
        assert decide(edited.approval_id, "granted", other).state == "granted"


def test_nor_does_whoever_has_edited_it_before(ada: Principal) -> None:
    one, other, third = manager(), manager(), manager()
    tool = factories.asking(Ask([MANAGERS], four_eyes=True))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(ada), tool=tool)
        first = edit(approval.approval_id, CHANGED, one)
        edited = edit(first.approval_id, CHANGED | {"note": "Sorry"}, other)

        with pytest.raises((Forbidden, NotFound)):
            decide(edited.approval_id, "granted", one)
        assert decide(edited.approval_id, "granted", third).state == "granted"


def test_the_policy_is_asked_about_the_new_arguments_and_never_approves_an_edit(ada: Principal) -> None:
    def rule(asking: Any) -> Any:
        return (
            AutoApprove("small")
            if asking.args.amount < 20
            else Ask([OWNER, STAFF], needed=2 if asking.args.amount > 100 else 1)
        )

    tool = factories.asking(rule)
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(ada), tool=tool)
        large = edit(approval.approval_id, ARGS | {"amount": 500.0}, ada)
        assert stored(large).needed == 2
        small = edit(large.approval_id, ARGS | {"amount": 5.0}, ada)

    assert (small.state, stored(small).needed) == ("pending", 2)


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"order": "A17", "amount": "much", "note": ""}, "/amount"),
        ({"order": "A17", "to": "me"}, "/to"),
        (ARGS, ""),
        ([], ""),
        ({"order": "\x00"}, "/order"),
        ({"order": "A17", "amount": 10**400}, "/amount"),
        ({"order": "A17", "amount": "1e400"}, "/amount"),
        ({"order": "A17", "amount": "nan"}, "/amount"),
    ],
)
def test_what_the_tool_refuses_changes_nothing(ada: Principal, args: Any, path: str) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    rows = len(factories.log_of(approval.session))

    with pytest.raises(ValidationFailed) as refused:
        edit(approval.approval_id, args, ada)

    approval.refresh_from_db()
    assert refused.value.facts["path"] == path
    assert (approval.version, approval.args) == (1, ARGS)
    assert len(factories.log_of(approval.session)) == rows


def test_only_those_who_may_decide_and_no_program(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    viewer = factories.make_user(staff=True, permissions=["view_session"])
    stranger = factories.make_user()

    with pytest.raises(Forbidden):
        edit(approval.approval_id, CHANGED, factories.make_principal(viewer))
    with pytest.raises(NotFound):
        edit(approval.approval_id, CHANGED, factories.make_principal(stranger))
    peer = program("peer", "7", name="desk")
    peer = Principal(owner_key=peer.owner_key, name="desk", decides=True)
    theirs = factories.make_approval(
        factories.make_session(peer), tool=factories.asking(Ask(), peers=["desk"])
    )
    with pytest.raises(Forbidden):
        edit(theirs.approval_id, CHANGED, peer)


def test_who_comes_too_late_is_told_what_happened(ada: Principal) -> None:
    session = factories.make_session(ada)
    decided, expired, gone, fixed = (factories.make_approval(session) for _ in range(4))
    decide(decided.approval_id, "denied", ada)
    Approval.objects.filter(pk=expired.pk).update(expires_at=expired.requested_at)

    with pytest.raises(AlreadyDecided):
        edit(decided.approval_id, CHANGED, ada)
    with pytest.raises(Expired):
        edit(expired.approval_id, CHANGED, ada)
    with factories.acting(), pytest.raises(Conflict, match="not part of this site"):
        edit(gone.approval_id, CHANGED, ada)
    policy = factories.make_tool().approval
    assert policy is not None
    uneditable = factories.make_tool(approval=replace(policy, editable=False))
    with factories.acting(uneditable), pytest.raises(Forbidden, match="cannot be edited"):
        edit(fixed.approval_id, CHANGED, ada)


@pytest.mark.parametrize("amount", ["1e400", "-Infinity", "nan", "9" * 400])
async def test_a_model_that_sends_no_number_of_json_is_told_so_and_goes_on(amount: str) -> None:
    """Pydantic makes a float of such a text."""
    script = replies(
        [Call("refund", {"order": "A1", "amount": amount})], [Say([text("response", "Too much.")])]
    )
    async with desk(script, factories.make_tool()) as d:
        await d.say("Refund")
        (turn,) = await d.turns()
        assert (turn.finalized_by, await d.texts(), await d.calls()) == ("complete", ["Too much."], [])
        (told,) = entries(d.requests[-1].messages[-1])

    assert "NaN or Infinity" in str(told)


async def test_the_model_is_told_what_was_changed_and_the_new_arguments_run() -> None:
    script = replies([Call("refund", {"order": "A1", "amount": 40})], [Say([text("response", "Done.")])])
    async with desk(script, factories.make_tool()) as d:
        await d.say("Refund")
        (approval,) = await d.approvals()
        await sync_to_async(edit)(approval.approval_id, {"order": "A1", "amount": 12.5, "note": ""}, d.owner)
        card = await d.html()
        await d.decide("granted")
        (call,) = await d.calls()
        result, edited = entries(d.requests[-1].messages[-1])

    assert (call.state, call.result) == ("succeeded", {"refunded": 12.5})
    assert result == ToolResult(call.call_id, {"refunded": 12.5})
    assert isinstance(edited, Injection) and (edited.kind, edited.tool) == ("edited", "refund")
    assert edited.payload["changed"] == {"amount": {"was": 40.0, "now": 12.5}}
    assert edited.payload["by"] == "Ada"
    # One card, drawn anew.
    assert card.count('class="b-approval"') == 1
    assert "<del>40</del>" in card and "changed 1 value" in card


# -- the pages ---------------------------------------------------------------------------------------------------


def signed_in(who: Principal) -> Client:
    client = Client()
    client.force_login(who.user)
    return client


def test_the_form_in_the_chat_edits_without_javascript(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    client, address = signed_in(ada), f"/chat/{approval.session.public_id}/edit/{approval.approval_id}"

    page = client.get(address).content.decode()
    assert 'name="a1"' in page and 'value="40.0"' in page
    wrong = client.post(address, {"a0": "A17", "a1": "much", "a2": ""})
    assert wrong.status_code == 422 and "Enter a number" in wrong.content.decode()
    vast = client.post(address, {"a0": "A17", "a1": "9" * 400, "a2": ""})
    assert vast.status_code == 422 and "beyond 2^53" in vast.content.decode()
    same = client.post(address, {"a0": "A17", "a1": "40.0", "a2": ""})
    assert same.status_code == 422 and "Nothing has been changed" in same.content.decode()
    done = client.post(address, {"a0": "A17", "a1": "12.5", "a2": ""})

    approval.refresh_from_db()
    assert done.status_code == 302 and approval.args == CHANGED
    # The question that was edited is gone: whoever comes back to its form reads the card.
    assert client.get(address).status_code == client.post(address, {"a1": "1"}).status_code == 302
    assert Approval.objects.get(pk=approval.pk).version == 2


def test_the_form_is_nobody_elses(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    other = factories.make_session(ada)
    viewer = factories.make_principal(factories.make_user(staff=True, permissions=["view_session"]))
    stranger = factories.make_principal(factories.make_user())
    path = f"edit/{approval.approval_id}"

    assert signed_in(stranger).get(f"/chat/{approval.session.public_id}/{path}").status_code == 404
    assert signed_in(viewer).get(f"/chat/{approval.session.public_id}/{path}").status_code == 403
    assert signed_in(ada).get(f"/chat/{other.public_id}/{path}").status_code == 404


def test_the_form_in_the_admin_edits_and_is_in_its_log(ada: Principal) -> None:
    approval = factories.make_approval(factories.make_session(ada))
    staff = factories.make_user(staff=True, permissions=["decide_approval", "view_approval"])
    client = signed_in(factories.make_principal(staff))
    address = f"/admin/envelopes/approval/{approval.pk}/edit/"

    assert 'value="40.0"' in client.get(address).content.decode()
    old = client.post(address, {"asked_as": "elsewhere1", "a1": "12.5"})
    assert old.status_code == 404 or Approval.objects.get(pk=approval.pk).version == 1
    done = client.post(address, {"asked_as": approval.approval_id, "a1": "12.5"}, follow=True)

    approval.refresh_from_db()
    assert approval.args == CHANGED
    page = done.content.decode()
    assert "<del>" in page and "Decide it as it is now" in page
    assert (
        "Changed the arguments in the desk"
        in client.get(f"/admin/envelopes/approval/{approval.pk}/history/").content.decode()
    )
