"""Pages of the desk that are not there, or not open to whoever asks: in the desk's frame, for those who see it."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from envelopes.desk.zone import is_of_desk


def refused(request: HttpRequest, status: int) -> HttpResponse | None:
    """The page of status 403 or 404. None where it is no page of the desk, or whoever asks has no business there: they
    get the site's own."""
    if not is_of_desk(request.path) or not hasattr(request, "user") or not admin.site.has_permission(request):
        return None
    title, words = (
        (_("No access"), _("Your account does not have the right to see this page."))
        if status == 403
        else (_("Not found"), _("It may have been removed, or the address may be mistyped."))
    )
    context = {**admin.site.each_context(request), "title": title, "words": words}
    return TemplateResponse(request, "admin/refused.html", context, status=status).render()
