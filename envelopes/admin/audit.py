"""The history: the decision log, read only, and as a file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from envelopes.access import Principal
from envelopes.admin.base import HistoryAdmin
from envelopes.admin.display import DASH, short_digest
from envelopes.admin.handing_out import handed_out
from envelopes.audit import exporting
from envelopes.audit.history import line_of
from envelopes.desk.times import moment
from envelopes.markup.html import brief, reveal
from envelopes.models import AuditEntry
from envelopes.models.audit import AuditKind
from envelopes.registries.doors import doors

KINDS = {
    AuditKind.REQUESTED: "Asked",
    AuditKind.SHOWN: "Shown",
    AuditKind.NOTIFIED: "Notified",
    AuditKind.EDITED: "Edited",
    AuditKind.DECIDED: "Decided",
    AuditKind.REUSED: "Reused",
    AuditKind.EXPIRED: "Expired",
    AuditKind.WITHDRAWN: "Withdrawn",
    AuditKind.REFUSED: "Refused attempt",
    AuditKind.EXECUTED: "Executed",
    AuditKind.ERASED: "Data erased",
    AuditKind.PRUNED: "Entries deleted",
}
ROLES = {
    "owner": "customer",
    "approver": "approver",
    "permission": "approver",
    "viewer": "viewer",
    "rule": "rule",
    "agent": "agent",
    "operator": "operator",
    "peer": "program",
    "service": "program",
    "unknown": "not known here",
}
DAYS = {"today": 0, "yesterday": 1, "week": 6, "month": 29}


class KindFilter(admin.SimpleListFilter):
    """By what happened."""

    title = "what happened"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(str(kind), words) for kind, words in KINDS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


class DoorFilter(admin.SimpleListFilter):
    """By where it happened. The choices come from the registry."""

    title = "door"
    parameter_name = "door"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(door.name, _sentence(str(door.label))) for door in doors]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(door=self.value()) if self.value() else queryset


class DayFilter(admin.SimpleListFilter):
    """By when, in the zone of the reader."""

    title = "day"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [
            ("today", pgettext("entries", "Today")),
            ("yesterday", pgettext("entries", "Yesterday")),
            ("week", _("Last 7 days")),
            ("month", _("Last 30 days")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        back = DAYS.get(self.value() or "")
        if back is None:
            return queryset
        today = timezone.localdate()
        found = queryset.filter(at__gte=_midnight(today - timedelta(days=back)))
        return found.filter(at__lt=_midnight(today)) if self.value() == "yesterday" else found


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


@admin.register(AuditEntry)
class AuditEntryAdmin(HistoryAdmin[AuditEntry]):
    """Newest first. Nothing can be changed: entries have no other page than this."""

    change_list_template = "admin/envelopes/auditentry/change_list.html"
    list_display = ["when", "what", "told_why", "acted_as", "request", "conversation", "call_digest"]
    list_display_links = ["when"]
    list_filter = [KindFilter, DoorFilter, DayFilter]
    search_fields = ["=approval_id", "=session_id", "=who", "=digest", "^name"]
    search_help_text = "Search approval or conversation ID, name or digest"
    json_fields = ["facts", "details"]
    deferred = ["content_digest", "chain_digest"]
    secret_fields = []
    runtime_fields = [
        "number",
        "kind",
        "approval_id",
        "session_id",
        "at",
        "role",
        "door",
        "who",
        "name",
        "digest",
        "salt",
        "content_digest",
        "chain_digest",
    ]
    ordering = ["-number"]
    sortable_by = ()

    def get_urls(self) -> list[URLPattern]:
        export = path(
            "export/<slug:kind>/",
            self.admin_site.admin_view(self.export_view),
            name="envelopes_auditentry_export",
        )
        return [export, *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """What a list says of it, then as it is stored."""
        told = ["when", "what", "acted_as", "where", "request", "conversation"]
        return [*told, *super().get_fields(request, obj)]

    def has_export_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and request.user.has_perm("envelopes.export_auditentry")

    def export_view(self, request: HttpRequest, kind: str) -> HttpResponse | StreamingHttpResponse:
        """What the list with these filters has, all of it, as a file."""
        if not self.has_export_permission(request):
            raise PermissionDenied
        if kind not in exporting.FORMATS:
            raise Http404
        shown = self.get_changelist_instance(request).get_queryset(request)
        entries = AuditEntry.objects.filter(pk__in=shown.order_by().values("pk"))
        name = f"history-{timezone.localdate()}.{kind}"
        return handed_out(
            request, exporting.pieces(entries, kind), _may_export, name, exporting.FORMATS[kind]
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        more: dict[str, Any] = {}
        if self.has_export_permission(request):
            asked = f"?{request.GET.urlencode()}" if request.GET else ""
            more["exports"] = [
                (words, reverse("admin:envelopes_auditentry_export", args=[kind]) + asked)
                for kind, words in (("csv", "CSV"), ("jsonl", "JSON Lines"))
            ]
        return super().changelist_view(request, more | (extra_context or {}))

    # -- columns ------------------------------------------------------------------------------------------------

    @admin.display(description="when")
    def when(self, entry: AuditEntry) -> SafeString:
        return moment(entry.at)

    @admin.display(description="what happened")
    def what(self, entry: AuditEntry) -> SafeString:
        return reveal(line_of(entry).words)

    @admin.display(description="reason")
    def told_why(self, entry: AuditEntry) -> SafeString | str:
        return brief(entry.reason, 80) if entry.reason else DASH

    @admin.display(description="as")
    def acted_as(self, entry: AuditEntry) -> str:
        return reveal(str(ROLES.get(entry.role, entry.role))) or DASH

    @admin.display(description="where")
    def where(self, entry: AuditEntry) -> str:
        door = doors.get(entry.door)
        return _sentence(str(door.label)) if door is not None else reveal(entry.door) or DASH

    @admin.display(description="request")
    def request(self, entry: AuditEntry) -> SafeString | str:
        return _found("approval", entry.approval_id)

    @admin.display(description="conversation")
    def conversation(self, entry: AuditEntry) -> SafeString | str:
        return _found("session", entry.session_id)

    @admin.display(description="digest")
    def call_digest(self, entry: AuditEntry) -> SafeString | str:
        return short_digest(entry.digest) if entry.digest else DASH


def _found(model: str, public_id: str) -> SafeString | str:
    """A search for it, however it stands: entries outlive what they tell of."""
    if not public_id:
        return DASH
    address = reverse(f"admin:envelopes_{model}_changelist")
    where = "view=all&" if model == "approval" else ""
    return format_html(
        '<a href="{}?{}q={}"><code>{}</code></a>', address, where, public_id, reveal(public_id[:8])
    )


def _may_export(who: Principal) -> bool:
    rights = ("envelopes.view_auditentry", "envelopes.export_auditentry")
    return who.may_view_all() and bool(who.user.has_perms(rights))
