"""A conversation as a file, for staff who may export (``records.taking``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, path, reverse

from envelopes.access import Principal
from envelopes.admin.handing_out import handed_out
from envelopes.models import Session
from envelopes.records.taking import exported

if TYPE_CHECKING:
    from envelopes.admin.base import HistoryAdmin

    _Base = HistoryAdmin[Session]
else:
    _Base = object


class Taking(_Base):
    """The part of the conversations' admin that hands one out whole."""

    def has_export_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("envelopes.export_session"))

    def get_urls(self) -> list[URLPattern]:
        export = path(
            "<path:object_id>/export/",
            self.admin_site.admin_view(self.export_view),
            name="envelopes_session_export",
        )
        return [export, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        session = kwargs.get("obj")
        if session is not None and self.has_export_permission(request):
            context["export_url"] = reverse("admin:envelopes_session_export", args=[session.pk])
        return super().render_change_form(request, context, *args, **kwargs)

    def export_view(self, request: HttpRequest, object_id: str) -> StreamingHttpResponse:
        """The whole log, turns, calls, approvals and files."""
        session = self.visible(request, object_id)
        if not self.has_export_permission(request):
            raise PermissionDenied
        name = f"conversation-{session.public_id}.jsonl"
        return handed_out(request, exported(session, files=True), _may_export, name, "application/jsonl")


def _may_export(who: Principal) -> bool:
    return who.may_view_all() and bool(who.user.has_perm("envelopes.export_session"))
