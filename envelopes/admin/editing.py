"""Correcting the arguments of a request in the admin, before somebody decides it (D20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.deciding import Deciding
from envelopes.admin.display import change_url
from envelopes.approvals.edit_form import form_of, submitted
from envelopes.errors import AlreadyDecided, BeachError, Conflict, Expired, Forbidden
from envelopes.markup.argument_form import ArgumentForm
from envelopes.markup.argument_inputs import drawn
from envelopes.models import Approval
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import ADMIN

if TYPE_CHECKING:
    from envelopes.admin.base import HistoryAdmin

    _Base = HistoryAdmin[Approval]
else:
    _Base = object


def edit_url(approval: Approval) -> str:
    return reverse("admin:envelopes_approval_edit", args=[approval.pk])


class Editing(_Base):
    """The page with the form."""

    def get_urls(self) -> list[URLPattern]:
        editing = path(
            "<path:object_id>/edit/",
            self.admin_site.admin_view(self.edit_view),
            name="envelopes_approval_edit",
        )
        return [editing, *super().get_urls()]

    def edit_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form; once it has been edited, the page of the new question. Whoever comes too late is told there."""
        approval = self.visible(request, object_id)
        who = principal_of(request)
        if not Deciding.may_decide(request, approval):
            raise PermissionDenied
        try:
            if request.method != "POST":
                return self._form(request, approval, form_of(approval))
            sent = request.POST.dict()
            done = submitted(approval, who, sent.get("asked_as", ""), sent, source=ADMIN.name)
        except (AlreadyDecided, Expired, Conflict, Forbidden) as error:
            messages.warning(request, error.message)
            return HttpResponseRedirect(change_url(approval))
        except BeachError as error:
            failed = form_of(approval).read(request.POST.dict())
            return self._form(request, approval, failed.saying(error.message))
        if isinstance(done, ArgumentForm):
            return self._form(request, approval, done)
        messages.success(request, _("The request was changed. Decide it as it is now."))
        return HttpResponseRedirect(change_url(done))

    def _form(self, request: HttpRequest, approval: Approval, form: ArgumentForm) -> HttpResponse:
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": _("Edit the call"),
            "opts": self.opts,
            "media": self.media,
            "approval": approval,
            "name": agent_name(approval.handler),
            "back": change_url(approval),
            "inputs": drawn(form),
        }
        return TemplateResponse(request, "admin/envelopes/approval/edit.html", context)
