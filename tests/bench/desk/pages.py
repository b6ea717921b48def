"""The pages of the desk that are measured, each with the address that a person opens it by."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Model
from django.urls import reverse

from envelopes.models import Approval, ConversationFacts, Session, ToolCall, Turn
from tests.bench.desk.filling import COMMON, RARE
from tests.bench.desk.measuring import FRAME


def addresses() -> Mapping[str, str]:
    """By the name of the page; of a single one, one in the middle of what there is."""
    session = _middle(Session, participants__user__isnull=False)
    before = ConversationFacts.objects.get(session=session.pk).place
    approval = Approval.objects.filter(state="pending").order_by("expires_at", "pk").first()
    if approval is None:
        raise AssertionError("nothing waits")
    conversations = reverse("admin:envelopes_session_changelist")
    queue = reverse("admin:envelopes_approval_changelist")
    return {
        FRAME: reverse("admin:password_change"),
        "start": reverse("admin:index"),
        "queue": queue,
        "queue, waiting": f"{queue}?queue=waiting",
        "approval": reverse("admin:envelopes_approval_change", args=[approval.pk]),
        "conversations": conversations,
        "conversations, middle": f"{conversations}?before={before}",
        "conversations, waiting": f"{conversations}?state=waiting",
        "conversations, with an error": f"{conversations}?error=1",
        "conversations, a rare word": f"{conversations}?q={RARE}",
        "conversations, a common word": f"{conversations}?q={COMMON}",
        "conversations, an address": f"{conversations}?q=person0@example.org",
        "conversation": reverse("admin:envelopes_session_conversation", args=[session.pk]),
        "log of a conversation": reverse("admin:envelopes_session_change", args=[session.pk]),
        "answers": reverse("admin:envelopes_turn_changelist"),
        "answer": reverse("admin:envelopes_turn_change", args=[_middle(Turn).pk]),
        "actions": reverse("admin:envelopes_toolcall_changelist"),
        "action": reverse("admin:envelopes_toolcall_change", args=[_middle(ToolCall).pk]),
        "files": reverse("admin:envelopes_artifact_changelist"),
        "history": reverse("admin:envelopes_approval_history", args=[approval.pk]),
    }


def _middle(model: type[Model], **asked: object) -> Model:
    rows = model._default_manager.filter(**asked).order_by("pk")
    first, last = rows.values_list("pk", flat=True)[0], rows.reverse().values_list("pk", flat=True)[0]
    found = rows.filter(pk__gte=(first + last) // 2).first()
    assert found is not None
    return found
