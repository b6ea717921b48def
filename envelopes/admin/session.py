"""Sessions: the list of conversations, and one with its participants and its whole log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.agent_call import waiting
from envelopes.admin.base import HistoryAdmin, download, owner_of, with_owner
from envelopes.admin.conversation.pages import ConversationPages, address_of
from envelopes.admin.display import moment, turn_mark
from envelopes.admin.sentences import sentence
from envelopes.admin.taking import Taking
from envelopes.admin.timeline import for_staff, timeline
from envelopes.markup.html import reveal, text
from envelopes.models import Event, Participant, Session, StateValue, Turn
from envelopes.protocol.rows import Row
from envelopes.registries.actors import actors
from envelopes.registries.part_types import part_types
from envelopes.turns.states import states_of


class ActorFilter(admin.SimpleListFilter):
    """By agent. The choices come from the registry: a DISTINCT over all sessions would read them all."""

    title = "agent"
    parameter_name = "actor"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(actor.name, actor.display_name) for actor in actors]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(actor=self.value()) if self.value() else queryset


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
    """Conversations; searched by title and public id. The page of one is ``conversation``; what Django calls its change
    page is the log of it."""

    change_form_template = "admin/envelopes/session/change_form.html"
    list_display = ["titled", "owner", "agent", "newest_turn", "events", "active"]
    list_filter = [ActorFilter]
    search_fields = ["title", "^public_id"]
    search_help_text = "Search title or ID"
    inlines = [ParticipantInline]
    extra_fields = ["state", "state_history", "waiting_calls"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        rows = super().get_queryset(request)
        newest = Turn.objects.filter(session=OuterRef("pk")).order_by("-number")
        return with_owner(rows, "pk").annotate(
            newest_status=Subquery(newest.values("status")[:1]),
            newest_state=Subquery(newest.values("turn_state")[:1]),
            newest_end=Subquery(newest.values("finalized_by")[:1]),
        )

    @admin.display(description="title", ordering="title")
    def titled(self, session: Session) -> SafeString:
        return reveal(str(session))

    @admin.display(description="customer")
    def owner(self, session: Any) -> SafeString:
        return owner_of(session)

    @admin.display(description="agent", ordering="actor")
    def agent(self, session: Session) -> str:
        actor = actors.get(session.actor)
        return actor.display_name if actor else session.actor

    @admin.display(description="status")
    def newest_turn(self, session: Any) -> SafeString:
        return turn_mark(session.newest_status or "", session.newest_state or "", session.newest_end or "")

    @admin.display(description="events", ordering="last_seq")
    def events(self, session: Session) -> int:
        return session.last_seq

    @admin.display(description="last activity", ordering="updated_at")
    def active(self, session: Session) -> SafeString:
        return moment(session.updated_at)

    @admin.display(description="state")
    def state(self, session: Session) -> SafeString:
        """Where its state machines are; what is not where it began links to the event that moved it."""
        stored = {value.name: value for value in StateValue.objects.filter(session=session)}
        lines = []
        for key, now in {
            **states_of(session),
            **{name: value.value for name, value in stored.items()},
        }.items():
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
