"""The page of one conversation in the admin."""

from __future__ import annotations

import secrets
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.conversation.acts import GOES_ON, Refused, done
from envelopes.admin.conversation.facts import beside, care_of
from envelopes.admin.conversation.following import followed
from envelopes.admin.conversation.moment import SEEN_BY, moment_of
from envelopes.conf import conf
from envelopes.models import Session
from envelopes.registries.statuses import TurnStatus

NAME = "envelopes_session_conversation"


def address_of(session: Session) -> str:
    return reverse(f"admin:{NAME}", args=[session.pk])


class ConversationPages(admin.ModelAdmin[Session]):
    """A mixin for the admin of conversations: ``<key>/conversation/``, at the row ``?at``. With ``?part`` the moment
    alone, for the page's own module, which looks back without loading it all again."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.conversation_view)
        return [
            path("<path:object_id>/conversation/", view, name=NAME),
            path("<path:object_id>/conversation/follow/", self.follow_view, name=f"{NAME}_follow"),
            *super().get_urls(),
        ]

    async def follow_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Rings for each row that changes what ``moment`` shows. 404 for whoever may not view conversations: a stream
        leads nobody to a page on which they could sign in."""
        session = await sync_to_async(self._session)(request, object_id)
        given = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
        after = int(given) if given.isascii() and given.isdecimal() and len(given) < 16 else 0
        return followed(request, session, SEEN_BY, after)

    def conversation_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        session = self._session(request, object_id)
        if request.method == "POST":
            return self._act(request, session)
        return self._page(request, session)

    def _session(self, request: HttpRequest, object_id: str) -> Session:
        if not principal_of(request).may_view_all():
            raise Http404
        found = Session.objects.select_related("claim", "claim__user").filter(
            pk=int(object_id) if object_id.isascii() and object_id.isdecimal() and len(object_id) < 19 else 0
        )
        session = found.first()
        if session is None:
            raise Http404
        return session

    def _act(self, request: HttpRequest, session: Session) -> HttpResponse:
        came = done(session, principal_of(request), request)
        as_json = "application/json" in request.headers.get("Accept", "")
        if isinstance(came, Refused):
            if as_json:
                return JsonResponse({"message": came.words}, status=came.status)
            # What was written comes back in its box.
            return self._page(request, self._session(request, str(session.pk)), came)
        if as_json:
            return JsonResponse({"message": came})
        if came:
            messages.success(request, came)
        return redirect(f"{address_of(session)}#{GOES_ON[request.POST['act']]}")

    def _page(self, request: HttpRequest, session: Session, refused: Refused | None = None) -> HttpResponse:
        at = request.GET.get("at", "")
        asked = int(at) if at.isascii() and at.isdecimal() and len(at) < 16 else None
        moment = moment_of(session, asked)
        context: dict[str, Any] = {
            "session": session,
            "moment": moment,
            "runtime": request.GET.get("runtime") == "1",
            "url": address_of(session),
        }
        if "part" in request.GET:
            care = care_of(session, principal_of(request))
            return TemplateResponse(request, "admin/envelopes/session/moment.html", context | {"care": care})
        running = session.turns.filter(status=TurnStatus.RUNNING).exists()
        context |= {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": str(session),
            "care": care_of(session, principal_of(request)),
            "beside": beside(session, moment.near),
            "running": running,
            "refused": refused,
            "key": secrets.token_hex(16),
            "limit": conf.BEACH_MESSAGE_CHARACTERS,
            "stream": self._stream(session),
            "log": reverse("admin:envelopes_session_change", args=[session.pk]),
        }
        answer = TemplateResponse(request, "admin/envelopes/session/conversation.html", context)
        answer.status_code = 200 if refused is None else refused.status
        return answer

    def _stream(self, session: Session) -> str:
        """Where the page hears of new rows."""
        url = reverse(f"admin:{NAME}_follow", args=[session.pk])
        return f"{url}?after={session.last_seq}"


def claimed(session: Session) -> str:
    """Who looks after a conversation, for a list that has the claim at hand."""
    claim = getattr(session, "claim", None)
    return _("Claimed by {}").format(claim.name) if claim is not None else ""
