"""Presses of buttons elsewhere: signed, in time, by somebody who is known here, about one exact question, and once."""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from beachsite.suite import ROOT
from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide
from envelopes.errors import ValidationFailed
from envelopes.models import Approval, AuditEntry
from envelopes.transports.buttons import slack, views, whatsapp
from envelopes.transports.buttons.checks import button_settings
from envelopes.transports.buttons.people import user_of
from envelopes.transports.buttons.presses import value_of
from tests import factories
from tests.envelopes.transports.email.post import asked, decider, stored
from tests.envelopes.transports.email.test_replies import script
from tests.envelopes.transports.links.test_links import reopen

pytestmark = pytest.mark.django_db


@pytest.fixture
def grace(settings: Any) -> User:
    settings.BEACH_BUTTON_SECRET = script()["secret"]
    settings.BEACH_SLACK_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
    settings.BEACH_WHATSAPP_SECRET = "b2c1"
    settings.BEACH_WHATSAPP_VERIFY = "verify me"
    settings.BEACH_BUTTON_USERS = [
        "webhook:pager/grace=grace",
        "slack:T0ABC/U0GRACE=grace",
        "whatsapp:4915112345678=grace",
        "slack:T0ABC/U0TWICE=grace",
        "slack:T0ABC/U0TWICE=ann",
        "slack:T0ABC/U0GONE=nobody",
    ]
    return decider("grace", "Grace", "Hopper")


@pytest.fixture
def approval(grace: User) -> Approval:
    return asked()


def pending(approval: Approval) -> bool:
    return stored(approval).state == "pending"


# -- any program -------------------------------------------------------------------------------------------------


def pressed(settings: Any, body: Any, **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    signed = script()["headers"](settings.BEACH_BUTTON_SECRET, raw) | headers
    return Client().post("/buttons/webhook", raw, content_type="application/json", headers=signed)


def test_a_signed_press_decides_as_whoever_it_is_here(settings: Any, grace: User, approval: Approval) -> None:
    body = {"button": value_of(approval, "denied"), "by": "pager/grace", "reason": "Not today."}
    answer = pressed(settings, body)
    assert (answer.status_code, answer.json()) == (200, {"state": "decided", "told": "Denied. Nothing ran."})
    now = stored(approval)
    assert (now.state, now.decided_by_user, now.source, now.reason) == (
        "denied",
        grace,
        "webhook",
        "Not today.",
    )


def test_unknown_people_are_refused_and_logged(
    settings: Any, grace: User, approval: Approval, caplog: pytest.LogCaptureFixture
) -> None:
    for by in ("pager/eve", "grace", "T0ABC/U0GRACE", "x\ny"):
        answer = pressed(settings, {"button": value_of(approval, "granted"), "by": by})
        assert (answer.status_code, answer.json()["state"]) == (200, "refused")
    assert pending(approval)
    lines = [record.getMessage() for record in caplog.records if record.name.endswith("pressing")]
    assert len(lines) == 4
    assert all(approval.approval_id in line and "\n" not in line for line in lines)
    assert "'pager/eve'" in lines[0]
    tried = AuditEntry.objects.filter(kind="refused", role="unknown", door="webhook").order_by("number")
    assert [one.name for one in tried][:2] == ["pager/eve", "grace"]
    assert len(tried) == 4


def test_nothing_counts_that_is_not_signed_now_or_is_no_press(
    settings: Any, grace: User, approval: Approval
) -> None:
    good = {"button": value_of(approval, "granted"), "by": "pager/grace"}
    for headers in (
        {"webhook-signature": "v1,AAAA"},
        {"webhook-timestamp": str(int(time.time()) - 400)},
        {"webhook-id": "another"},
    ):
        assert pressed(settings, good, **headers).status_code == 403
    for bad in (
        b"\xff",
        b"[]",
        b"{",
        b"[" * 5_000,
        {"by": "pager/grace"},
        good | {"button": "granted"},
        good | {"button": good["button"].upper()},
        good | {"button": f"{good['button']}0"},
        good | {"by": ""},
        good | {"by": "x" * 129},
        good | {"by": ["pager/grace"]},
    ):
        answer = Client().post(
            "/buttons/webhook",
            bad if isinstance(bad, bytes) else json.dumps(bad),
            content_type="application/json",
            headers=script()["headers"](settings.BEACH_BUTTON_SECRET, bad if bad != b"\xff" else b"x")
            if isinstance(bad, bytes)
            else script()["headers"](settings.BEACH_BUTTON_SECRET, json.dumps(bad).encode()),
        )
        assert answer.status_code in (400, 403), bad
    assert pressed(settings, b"x" * (views.BODY_BYTES + 1)).status_code == 413
    assert Client().get("/buttons/webhook").status_code == 405
    settings.BEACH_BUTTON_SECRET = ""
    assert Client().post("/buttons/webhook", b"{}", content_type="application/json").status_code == 404
    assert pending(approval)


def test_a_press_counts_once(settings: Any, grace: User, approval: Approval) -> None:
    raw = json.dumps({"button": value_of(approval, "denied"), "by": "pager/grace"}).encode()
    signed = script()["headers"](settings.BEACH_BUTTON_SECRET, raw)

    def again() -> Any:
        return Client().post("/buttons/webhook", raw, content_type="application/json", headers=signed).json()

    assert again()["state"] == again()["state"] == "decided"
    assert factories.log_of(approval.session, "late-decision") == []
    reopen(approval)
    assert again()["state"] == "late"
    assert pending(approval)


def test_late_foreign_and_changed_presses_are_told_so(settings: Any, grace: User, approval: Approval) -> None:
    def told(value: str) -> tuple[str, str]:
        answer = pressed(settings, {"button": value, "by": "pager/grace"}).json()
        return answer["state"], answer["told"]

    other = value_of(approval, "granted").replace(approval.approval_id, "nosuchapproval")
    assert told(other)[0] == "refused"
    state, text = told(value_of(approval, "granted").replace(approval.digest, "0" * 64))
    assert (state, "changed" in text) == ("late", True)
    settings.BEACH_LINK_LOGIN = "always"
    assert told(value_of(approval, "granted"))[0] == "refused"
    (tried,) = AuditEntry.objects.filter(kind="refused", facts__code="forbidden")
    assert (tried.name, tried.door) == ("Grace Hopper", "webhook")
    settings.BEACH_LINK_LOGIN = "never"
    owner = approval.session.participants.get(role="owner").user
    decide(approval.approval_id, "denied", factories.make_principal(owner))
    assert "already denied" in told(value_of(approval, "granted"))[1]
    (row,) = factories.log_of(approval.session, "late-decision")
    assert row.data["source"] == "webhook"
    grace.user_permissions.clear()
    gone = asked()
    assert told(value_of(gone, "granted"))[0] == "refused"
    (tried,) = AuditEntry.objects.filter(approval_id=gone.approval_id, kind="refused")
    assert (tried.who, tried.door, tried.facts["code"]) == (f"user:{grace.pk}", "webhook", "not_found")


def test_what_says_two_things_says_nothing(settings: Any, grace: User, approval: Approval) -> None:
    yes, no = value_of(approval, "granted"), value_of(approval, "denied")
    for body in (
        f'{{"button": "{no}", "button": "{yes}", "by": "pager/grace"}}',
        f'{{"button": "{yes}", "by": "pager/eve", "by": "pager/grace"}}',
        f'{{"button": ["{yes}"], "by": "pager/grace"}}',
        f'{{"button": "{yes}", "by": 7}}',
    ):
        assert pressed(settings, body.encode()).status_code == 400, body
    # In another encoding, packed, or with a mark in front, it is no JSON in UTF-8, whoever signs it.
    good = json.dumps({"button": yes, "by": "pager/grace"})
    key = base64.b64decode(settings.BEACH_BUTTON_SECRET.removeprefix("whsec_"))
    for raw in (good.encode("utf-16"), gzip.compress(good.encode()), good.encode("utf-8-sig")):
        name, at = "m1", str(int(time.time()))
        made = hmac.new(key, f"{name}.{at}.".encode() + raw, hashlib.sha256).digest()
        headers = {
            "webhook-id": name,
            "webhook-timestamp": at,
            "webhook-signature": f"v1,{base64.b64encode(made).decode()}",
            "Content-Encoding": "gzip",
        }
        answer = Client().post("/buttons/webhook", raw, content_type="application/json", headers=headers)
        assert answer.status_code in (400, 403)
    assert pending(approval)


# -- Slack -------------------------------------------------------------------------------------------------------


def clicked(approval: Approval, decision: str, **changes: Any) -> dict[str, Any]:
    """What Slack posts for a press, as its documentation has it."""
    message = slack.message(approval)
    (button,) = (
        each for each in message["blocks"][-1]["elements"] if each["action_id"] == f"beach.{decision}"
    )
    return {
        "type": "block_actions",
        "user": {"id": "U0GRACE", "username": "grace", "name": "grace", "team_id": "T0ABC"},
        "api_app_id": "A02",
        "token": "Shh_its_a_seekrit",
        "container": {"type": "message", "message_ts": "1548261231.000200", "channel_id": "CBR2V3XEX"},
        "trigger_id": "12466734323.1395872398",
        "team": {"id": "T0ABC", "domain": "acme"},
        "channel": {"id": "CBR2V3XEX", "name": "approvals"},
        "response_url": "https://hooks.slack.com/actions/T0ABC/1/x",
        "message": {"type": "message", "ts": "1548261231.000200"} | message,
        "actions": [{**button, "block_id": slack.BLOCK, "action_ts": "1548426417.840180"}],
    } | changes


def post_slack(secret: str, payload: dict[str, Any], *, at: float | None = None, **headers: str) -> Any:
    body = urlencode({"payload": json.dumps(payload)}).encode()
    seconds = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), b"v0:" + seconds.encode() + b":" + body, hashlib.sha256).hexdigest()
    signed = {"X-Slack-Request-Timestamp": seconds, "X-Slack-Signature": f"v0={digest}"} | headers
    return Client().post(
        "/buttons/slack", body, content_type="application/x-www-form-urlencoded", headers=signed
    )


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What was posted to Slack."""
    found: list[tuple[str, Any]] = []

    def post(url: str, *, json: Any, **more: Any) -> httpx.Response:
        found.append((url, json))
        return httpx.Response(200, request=httpx.Request("POST", url))

    monkeypatch.setattr(httpx, "post", post)
    return found


def test_slack_signs_as_its_documentation_says() -> None:
    """The example of "Verifying requests from Slack"."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    headers = {
        "X-Slack-Request-Timestamp": "1531420618",
        "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    secret = "8f742231b10e8888abcd99yyyzzz85a5"
    assert slack.is_signed(headers, body, secret, 1531420618 + 299)
    assert not slack.is_signed(headers, body, secret, 1531420618 + 301)
    assert not slack.is_signed(headers, body + b"x", secret, 1531420618)
    assert not slack.is_signed({}, body, secret, 1531420618)


def test_a_press_in_slack_decides_and_the_message_loses_its_buttons(
    settings: Any, grace: User, approval: Approval, sent: list[Any]
) -> None:
    assert post_slack(settings.BEACH_SLACK_SECRET, clicked(approval, "granted")).status_code == 200
    now = stored(approval)
    assert (now.state, now.decided_by_user, now.source) == ("granted", grace, "slack")
    ((url, told),) = sent
    assert url == "https://hooks.slack.com/actions/T0ABC/1/x"
    assert told["replace_original"]
    assert "actions" not in {block["type"] for block in told["blocks"]}
    # Somebody else presses what their page still shows.
    late = clicked(approval, "denied", response_url="https://evil.example/x")
    assert post_slack(settings.BEACH_SLACK_SECRET, late).status_code == 200
    assert len(sent) == 1
    assert len(factories.log_of(approval.session, "late-decision")) == 1


def test_what_slack_did_not_sign_or_is_no_press_decides_nothing(
    settings: Any, grace: User, approval: Approval, sent: list[Any]
) -> None:
    secret = settings.BEACH_SLACK_SECRET
    good = clicked(approval, "granted")
    assert post_slack("another", good).status_code == 403
    assert post_slack(secret, good, at=time.time() - 301).status_code == 403
    assert post_slack(secret, good, X_Slack_Signature="v0=\u00e9").status_code == 403
    two = [*good["actions"], *clicked(approval, "denied")["actions"]]
    renamed = [{**good["actions"][0], "action_id": "beach.denied"}]
    for changed in (
        {"type": "view_submission"},
        {"actions": []},
        {"actions": two},
        {"actions": renamed},
        {"actions": [{"action_id": "beach.granted", "value": "yes"}]},
        {"user": {"id": "U0GRACE"}, "team": None},
        {"user": None},
    ):
        assert post_slack(secret, good | changed).status_code == 400, changed
    for by in ({"id": "U0EVE", "team_id": "T0ABC"}, {"id": "U0GRACE", "team_id": "T0EVIL"},
               {"id": "U0TWICE", "team_id": "T0ABC"}, {"id": "U0GONE", "team_id": "T0ABC"}):  # fmt: skip
        assert post_slack(secret, good | {"user": by}).status_code == 200
    assert pending(approval)
    assert [told["text"].split(".")[0] for _, told in sent] == ["Nobody here is known by that name"] * 4
    assert all(told["response_type"] == "ephemeral" for _, told in sent)


def test_a_message_to_slack_shows_all_or_has_no_button_that_approves(grace: User, approval: Approval) -> None:
    message = slack.message(approval)
    shown = json.dumps(message, ensure_ascii=False)
    for word in ("Pay 40 back for order A17?", "A17", "Broken cup.", "billing", "refund"):
        assert word in shown
    assert [each["action_id"] for each in message["blocks"][-1]["elements"]] == [
        "beach.denied",
        "beach.granted",
    ]
    # Marks, mentions and links of Slack's are text.
    assert "mrkdwn" not in shown
    long = slack.message(asked("<!channel> " * 90))
    assert [each["action_id"] for each in long["blocks"][-1]["elements"]] == ["beach.denied"]
    assert "Not all of it is shown here" in json.dumps(long)
    # A name of an argument, which an agent may have made up, leaves no room for what it holds.
    named = factories.make_approval(approval.session, {"order": "A17", "note" * 800: "hidden"})
    told = slack.message(named)
    assert "hidden" not in json.dumps(told)
    assert [each["action_id"] for each in told["blocks"][-1]["elements"]] == ["beach.denied"]


def test_messages_say_what_was_there_before_an_edit(grace: User, approval: Approval) -> None:
    args = approval.args | {"amount": 12.5}
    with factories.acting(factories.make_tool()):
        now = edit(approval.approval_id, args, factories.make_principal(grace))
        told = slack.message(now), whatsapp.message(now, "4915112345678")
    for message in map(json.dumps, told):
        assert "12.5 (was 40)" in message
        assert "Grace Hopper has changed this request." in message
        assert message.count("(was ") == 1
    assert len(told[0]["blocks"]) <= 50


def test_slack_is_told_nothing_at_what_is_no_address(settings: Any, grace: User, approval: Approval) -> None:
    press = clicked(approval, "granted", response_url="https://hooks.slack.com/\x07")
    assert post_slack(settings.BEACH_SLACK_SECRET, press).status_code == 200
    assert stored(approval).state == "granted"


# -- WhatsApp ----------------------------------------------------------------------------------------------------


def replied(*buttons: str, seconds: float = 0, by: str = "4915112345678") -> dict[str, Any]:
    """What Meta posts for presses of reply buttons, as its documentation has it."""
    return {
        "object": "whatsapp_business_account",
        "entry": [
            {
                "id": "102290129340398",
                "changes": [
                    {
                        "field": "messages",
                        "value": {
                            "messaging_product": "whatsapp",
                            "metadata": {
                                "display_phone_number": "15550783881",
                                "phone_number_id": "106540352242922",
                            },
                            "contacts": [{"profile": {"name": "Grace"}, "wa_id": by}],
                            "messages": [
                                {
                                    "context": {
                                        "from": "15550783881",
                                        "id": "wamid.gBGGSFcCNEOPAgkO_KJ55r4w_ww",
                                    },
                                    "from": by,
                                    "id": f"wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQ{number}",
                                    "timestamp": str(int(time.time() - seconds)),
                                    "type": "interactive",
                                    "interactive": {
                                        "type": "button_reply",
                                        "button_reply": {"id": button, "title": "Approve"},
                                    },
                                }
                                for number, button in enumerate(buttons)
                            ],
                        },
                    }
                ],
            }
        ],
    }


def post_whatsapp(secret: str, payload: Any) -> Any:
    body = json.dumps(payload).encode()
    signed = {"X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"}
    return Client().post("/buttons/whatsapp", body, content_type="application/json", headers=signed)


def test_a_press_in_whatsapp_decides(settings: Any, grace: User, approval: Approval) -> None:
    button = whatsapp.message(approval, "4915112345678")["interactive"]["action"]["buttons"][1]["reply"]
    assert button["title"] == "Approve"
    payload = replied(button["id"], "a button of another program")
    for _ in range(2):
        # Meta posts again what it has no answer to.
        answer = post_whatsapp(settings.BEACH_WHATSAPP_SECRET, payload)
        assert [one["state"] for one in answer.json()["presses"]] == ["decided"]
    now = stored(approval)
    assert (now.state, now.decided_by_user, now.source) == ("granted", grace, "whatsapp")
    assert factories.log_of(approval.session, "late-decision") == []


def test_what_meta_did_not_sign_or_is_no_press_in_whatsapp_decides_nothing(
    settings: Any, grace: User, approval: Approval
) -> None:
    secret, value = settings.BEACH_WHATSAPP_SECRET, value_of(approval, "granted")
    assert post_whatsapp("another", replied(value)).status_code == 403
    for payload in (
        replied(value, by="4900000"),
        replied(value, seconds=whatsapp.KEPT_SECONDS + 1),
        replied(value, seconds=-whatsapp.AHEAD_SECONDS - 5),
        # A year that no calendar has.
        replied(value, seconds=time.time() - 999_999_999_999),
        replied("yes"),
        {"entry": [{"changes": [{"value": {"statuses": [{"status": "read"}]}}]}]},
        {"entry": "x"},
        {"entry": [None, {"changes": [None, {"value": {"messages": [None, {"id": 1}]}}]}]},
        {},
    ):
        answer = post_whatsapp(secret, payload)
        assert answer.status_code == 200
        assert {one["state"] for one in answer.json()["presses"]} <= {"refused"}
    assert post_whatsapp(secret, []).status_code == 400
    assert pending(approval)


def test_meta_sets_the_address_up_with_the_token(grace: User) -> None:
    asked_with = {"hub.mode": "subscribe", "hub.challenge": "1158201444"}
    good = Client().get("/buttons/whatsapp", asked_with | {"hub.verify_token": "verify me"})
    assert (good.status_code, good.content) == (200, b"1158201444")
    assert Client().get("/buttons/whatsapp", asked_with | {"hub.verify_token": "x"}).status_code == 403
    assert Client().get("/buttons/whatsapp", asked_with | {"hub.challenge": "<b>"}).status_code == 403


def test_a_message_to_whatsapp_fits_or_has_no_button_that_approves(grace: User, approval: Approval) -> None:
    for note, titles in (("Broken cup.", ["Deny", "Approve"]), ("x" * 900, ["Deny"])):
        shown = whatsapp.message(asked(note), "4915112345678")["interactive"]
        assert len(shown["body"]["text"]) <= whatsapp.BODY_CHARACTERS
        assert [one["reply"]["title"] for one in shown["action"]["buttons"]] == titles
        assert all(len(one["reply"]["id"]) <= 256 for one in shown["action"]["buttons"])


# -- settings ----------------------------------------------------------------------------------------------------


def test_the_settings_say_who_is_who_and_wrong_ones_are_named(settings: Any, grace: User) -> None:
    assert user_of("slack", "T0ABC/U0GRACE") == grace
    assert user_of("whatsapp", "T0ABC/U0GRACE") is None
    assert button_settings(None) == []
    settings.BEACH_BUTTON_USERS = ["slack:U=grace", "pager:U=grace", "grace", "slack:=grace", "slack:U="]
    settings.BEACH_BUTTON_SECRET = "secret"
    assert [one.id for one in button_settings(None)] == ["envelopes.E023"] * 4 + ["envelopes.E024"]
    User.objects.filter(pk=grace.pk).update(is_active=False)
    assert user_of("slack", "U") is None


def test_its_examples_and_limits_are_documented(settings: Any, grace: User, approval: Approval) -> None:
    text = (ROOT / "docs" / "approvals.md").read_text(encoding="utf-8")
    example = next(block for block in text.split("```json\n")[1:] if '"button"' in block).split("```")[0]
    body = json.loads(example)
    assert set(body) == {"button", "by", "reason"}
    answer = pressed(settings, body | {"button": value_of(approval, "denied"), "by": "pager/grace"})
    assert answer.json()["state"] == "decided"
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    assert f"| bytes of a post about a button | {views.BODY_BYTES:,} |" in limits
    with pytest.raises(ValidationFailed):
        slack.payload_in(b"payload=1&payload=2")
