"""Sessions: the list of conversations, and one with its participants and its whole log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.agent_call import waiting
from envelopes.admin.base import HistoryAdmin, download, refuse_nul
from envelopes.admin.conversation.pages import ConversationPages, address_of
from envelopes.admin.conversations import conversations
from envelopes.admin.sentences import sentence
from envelopes.admin.taking import Taking
from envelopes.admin.timeline import for_staff, timeline
from envelopes.markup.html import text
from envelopes.models import Event, Participant, Session, StateValue
from envelopes.protocol.rows import Row
from envelopes.registries.part_types import part_types
from envelopes.turns.states import states_with


class ParticipantInline(admin.TabularInline[Participant, Session]):
    """Who takes part. The key of a visitor's cookie is shown in short: it tells visitors apart, and signs nobody in.
    Of a program it is what that is called."""

    model = Participant
    extra = 0
    can_delete = False
    fields = ("role", "name", "user", "key")
    readonly_fields = ("role", "name", "user", "key")
    show_change_link = False
    verbose_name_plural = "participants"
    empty_value_display = HistoryAdmin.empty_value_display

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).select_related("user")

    @admin.display(description="visitor")
    def key(self, participant: Participant) -> str:
        key = participant.owner_key
        return (key if ":" in key else key[:12]) or self.empty_value_display

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """As the session: whoever may read a conversation may know who speaks in it."""
        return principal_of(request).may_view_all()


CHANGES = 50
"""So many of the last events are looked through for changes of state."""


def _changes(row: Row, proposing: Sequence[str]) -> Iterator[str]:
    """The changes of state that a row is, or that came with a message."""
    if row.kind != "message":
        yield sentence(row)
        return
    for part in row.data["parts"]:
        kind = part_types.get(part["metadata"]["partType"])
        if kind is not None and kind.name in proposing and kind.in_words is not None:
            yield _("{}: {}").format(row.data.get("name") or _("A peer"), kind.in_words(part))


@admin.register(Session)
class SessionAdmin(ConversationPages, Taking, HistoryAdmin[Session]):
    """Conversations; what the list does is in ``conversations``. The page of one is ``conversation``; what Django calls
    its change page is the log of it."""

    change_form_template = "admin/envelopes/session/change_form.html"
    inlines = [ParticipantInline]
    extra_fields = ["state", "state_history", "waiting_calls"]

    @admin.display(description="state")
    def state(self, session: Session) -> SafeString:
        """Where its state machines are; what is not where it began links to the event that moved it."""
        stored = {value.name: value for value in StateValue.objects.filter(session=session)}
        lines = []
        moved_to = {name: value.value for name, value in stored.items()}
        # Of a machine that is registered no more there is what is stored.
        for key, now in {**states_with(moved_to), **moved_to}.items():
            moved = stored.get(key)
            since = format_html(' <a href="#event-{0}">#{0}</a>', moved.seq) if moved is not None else ""
            lines.append((key, text(now), since))
        return format_html_join(SafeString("<br>"), "<code>{}</code> {}{}", lines) or SafeString(
            self.empty_value_display
        )

    @admin.display(description="calls that wait for the agent")
    def waiting_calls(self, session: Session) -> SafeString:
        """Functions of the agent that its surfaces have called; what came of others stands in the log below."""
        return waiting(session) or SafeString(self.empty_value_display)

    @admin.display(description="state history")
    def state_history(self, session: Session) -> SafeString:
        """The last changes that were asked for, newest first, made or refused, each with the event that it was."""
        proposing = [kind.name for kind in part_types if kind.sets_state]
        asked = (
            Q(part_type__in=proposing) | Q(kind="state-refused") | Q(kind="message", data__has_key="parts")
        )
        found = Event.objects.filter(asked, session=session).order_by("-seq")[:CHANGES]
        lines = [(event.seq, text(words)) for event in found for words in _changes(event.as_row(), proposing)]
        return format_html_join(SafeString("<br>"), '<a href="#event-{0}">#{0}</a> {1}', lines) or SafeString(
            self.empty_value_display
        )

    def get_urls(self) -> list[URLPattern]:
        event = path(
            "<path:object_id>/events/<int:seq>/",
            self.admin_site.admin_view(self.event_view),
            name="envelopes_session_event",
        )
        return [event, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """No ``ChangeList``: that counts, and skips what is on the pages before."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        refuse_nul(request)
        context = {
            **self.admin_site.each_context(request),
            "title": capfirst(str(self.opts.verbose_name_plural)),
            "listed": conversations(request.GET, request.user.pk),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/envelopes/session/change_list.html", context)

    def event_view(self, request: HttpRequest, object_id: str, seq: int) -> HttpResponse:
        """All that one row of the log holds, as a download."""
        session = self.visible(request, object_id)
        event = Event.objects.filter(session=session, seq=seq).first()
        if event is None:
            raise Http404
        return download(f"session-{session.pk}-event-{seq}.json", for_staff(event.part_type, event.data))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        more: dict[str, Any] = dict(extra_context or {})
        session = self.get_object(request, object_id)
        # Without one, or without the right, the stock view answers.
        if session is not None and self.has_view_permission(request, session):
            more["timeline"] = timeline(session, request.GET.get("page"), principal_of(request))
            more["conversation_url"] = address_of(session)
            more["chat_url"] = reverse("envelopes:session", args=[session.public_id])
            more["title"] = _("Conversation")
        return super().change_view(request, object_id, form_url, more)
