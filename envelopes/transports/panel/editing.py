"""The page on which somebody in the chat corrects a call before it is decided (D20). It works without JavaScript."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from envelopes import access
from envelopes.approvals.edit_form import form_of, submitted
from envelopes.approvals.editing import may_edit
from envelopes.errors import AlreadyDecided, BeachError, Conflict, Expired, Forbidden, NotFound
from envelopes.markup.argument_form import ArgumentForm
from envelopes.markup.argument_inputs import drawn
from envelopes.models import Approval
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import CHAT


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit_page(request: HttpRequest, public_id: str, approval_id: str) -> HttpResponse:
    """The form of a question; once it has been edited, or is not open any more, the conversation: its card says so."""
    who = access.principal_of(request)
    approval = _approval(who, public_id, approval_id)
    if approval.state != "pending" or approval.approval_id != approval_id:
        return redirect("envelopes:session", public_id=public_id)
    try:
        if request.method != "POST":
            return _page(request, approval, form_of(approval))
        done = submitted(approval, who, approval_id, request.POST.dict(), source=CHAT.name)
    except (Forbidden, Conflict) as error:
        raise PermissionDenied(error.message) from error
    except (AlreadyDecided, Expired):
        return redirect("envelopes:session", public_id=public_id)
    except BeachError as error:
        failed = form_of(approval).read(request.POST.dict())
        return _page(request, approval, failed.saying(error.message), status=409)
    if isinstance(done, Approval):
        return redirect("envelopes:session", public_id=public_id)
    return _page(request, approval, done, status=422)


def _approval(who: access.Principal, public_id: str, approval_id: str) -> Approval:
    """The approval of this conversation that ``who`` may edit. Raises ``Http404`` and ``PermissionDenied``."""
    try:
        session = access.get_session(who, public_id)
        approval = may_edit(approval_id, who)
    except NotFound as error:
        raise Http404(error.message) from error
    except Forbidden as error:
        raise PermissionDenied(error.message) from error
    if approval.session_id != session.pk:
        raise Http404
    return approval


def _page(request: HttpRequest, approval: Approval, form: ArgumentForm, *, status: int = 200) -> HttpResponse:
    context = {
        "approval": approval,
        "session": approval.session,
        "name": agent_name(approval.handler),
        "inputs": drawn(form),
    }
    return render(request, "beach/panel/edit.html", context, status=status)
