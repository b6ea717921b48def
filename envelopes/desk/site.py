"""The desk: Django's admin under the names that people use, in one frame (``templates/admin/base.html``).

What the frame needs on every page is made here: the sections that this person may open, which of them the page is in,
and how many approvals wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.apps import apps
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from envelopes.desk.waiting import WAITING_COUNTED, version, waiting_count

MODELS = {
    "Session": "chat",
    "Approval": "shield",
    "Turn": "answer",
    "ToolCall": "bolt",
    "Artifact": "file",
}
"""The models that are sections of their own, each with its icon, in order. The rest is under Settings."""


@dataclass(frozen=True)
class Section:
    """One entry of the nav. ``count`` is what waits there, as it is written; ``counted`` says it in words."""

    name: str
    url: str
    icon: str
    current: bool = False
    count: str = ""
    counted: str = ""


class Desk(AdminSite):
    """Django's admin site with the desk's frame, nav and start."""

    site_title = "Beach"
    site_header = gettext_lazy("Beach desk")
    index_title = gettext_lazy("Desk")
    login_template = "beach/panel/login.html"
    enable_nav_sidebar = False
    _start: ClassVar[Callable[[AdminSite, HttpRequest], dict[str, Any]] | None] = None

    def get_urls(self) -> list[URLPattern | URLResolver]:
        settings = path("settings/", self.admin_view(self.settings_view), name="settings")
        pulse = path("pulse/", self.admin_view(self.pulse_view), name="pulse")
        return [settings, pulse, *super().get_urls()]

    @classmethod
    def start_with(cls, context: Callable[[AdminSite, HttpRequest], dict[str, Any]]) -> None:
        """``context`` makes what the start page shows: the admin's, which knows the models and comes after the site."""
        cls._start = context

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        start = type(self)._start
        made = start(self, request) if start is not None else {}
        return super().index(request, {**made, **(extra_context or {})})

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context: dict[str, Any] = super().each_context(request)
        sections = self._sections(request) if self.has_permission(request) else []
        return context | {
            "sections": sections,
            "section": next((one for one in sections if one.current), None),
            "waiting": next((one for one in sections if one.count), None),
            "pulse_url": reverse("admin:pulse") if any(one.icon == "shield" for one in sections) else "",
            "desk_words": _words(),
            "zone": timezone.get_current_timezone_name(),
            "theme": request.COOKIES.get("beach_theme", "auto"),
        }

    def settings_view(self, request: HttpRequest) -> HttpResponse:
        """All models that are no section of their own, by application, as far as this person may see them."""
        rest = []
        for app in self.get_app_list(request):
            models = [model for model in app["models"] if not _is_section(model["model"])]
            if models:
                rest.append(app | {"models": models})
        context = {**self.each_context(request), "title": _("Settings"), "app_list": rest}
        return TemplateResponse(request, "admin/settings.html", context)

    def pulse_view(self, request: HttpRequest) -> HttpResponse:
        """How many approvals wait, as the head of the page writes it, and what changes with every question and
        decision: asked again and again by pages that stand open."""
        admin = self._registry.get(apps.get_model("envelopes", "approval"))
        if admin is None or not admin.has_view_permission(request):
            raise PermissionDenied
        shown, counted = _shown(waiting_count(_seen(admin, request)))
        response = JsonResponse({"count": shown, "counted": counted, "version": version()})
        response["Cache-Control"] = "no-store"
        return response

    def _sections(self, request: HttpRequest) -> list[Section]:
        """Those that this person may open."""
        here = _here(request)
        found = [Section(_("Desk"), reverse("admin:index"), "home", here == "index")]
        for name, icon in MODELS.items():
            model = apps.get_model("envelopes", name)
            admin = self._registry.get(model)
            if admin is None or not admin.has_view_permission(request):
                continue
            shown, counted = ("", "")
            if name == "Approval":
                shown, counted = _shown(waiting_count(_seen(admin, request)))
            found.append(
                Section(
                    capfirst(str(model._meta.verbose_name_plural)),
                    reverse(f"admin:envelopes_{model._meta.model_name}_changelist"),
                    icon,
                    here == model._meta.model_name,
                    shown,
                    counted,
                )
            )
        found.append(Section(_("Settings"), reverse("admin:settings"), "gear", here == "settings"))
        return found


def _seen(admin: Any, request: HttpRequest) -> QuerySet[Any]:
    """The approvals that this person finds in the queue: not everybody sees all of them."""
    seen: QuerySet[Any] = admin.source(request).seen
    return seen


def _shown(count: int) -> tuple[str, str]:
    """The number of those that wait as it is written, and in words; both empty for none."""
    shown = f"{WAITING_COUNTED}+" if count > WAITING_COUNTED else str(count or "")
    return shown, _("{} waiting").format(shown) if shown else ""


def _words() -> dict[str, object]:
    """What the page's own code says, and the server's time."""
    return {
        "now": round(time.time() * 1000),
        "left": _("{} left"),
        "over": _("Time is up"),
        "chosen": _("{} selected."),
        "chosenOne": _("{} selected."),
        "fresh": _("{} new requests"),
        "freshOne": _("{} new request"),
        "edited": _("Someone has changed this request. Read it again before you decide."),
        "showEdited": _("Show the new version"),
        "unsent": _("Your reason was not sent: “{}”"),
    }


def _is_section(model: Any) -> bool:
    return model._meta.app_label == "envelopes" and model.__name__ in MODELS


def _here(request: HttpRequest) -> str:
    """The section that a page is in: a model's name, ``index`` or ``settings``; "" for one that is not there."""
    match = request.resolver_match
    if match is None or match.url_name is None:
        return ""
    name = str(match.url_name)
    if name == "index":
        return name
    model = name.removeprefix("envelopes_").rpartition("_")[0]
    return model if name.startswith("envelopes_") and model in map(str.lower, MODELS) else "settings"
