"""What the admin of every model has in common: it shows history and changes none of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db.models import CharField, Field, ForeignKey, Model, OuterRef, QuerySet, Subquery, TextField
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from envelopes.access import principal_of
from envelopes.admin.display import (
    folded_field,
    linked_field,
    listed_field,
    pretty,
    state_words,
    stored_field,
    text_field,
)
from envelopes.markup.html import SafeString, brief, reveal, text
from envelopes.models import Participant

M = TypeVar("M", bound=Model)

COUNTED = 10_000
"""A changelist counts no further: COUNT(*) over all of a large log takes longer than anybody waits."""


class CappedPaginator(Paginator[Any]):
    """Counts up to ``COUNTED`` rows; ``capped`` says that there are more."""

    @cached_property
    def _found(self) -> int:
        rows: QuerySet[Model] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: COUNTED + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self._found, COUNTED)

    @property
    def capped(self) -> bool:
        return self._found > COUNTED


class StateFilter(admin.SimpleListFilter):
    """By stored state, in words. Subclasses set ``parameter_name``, which is the field, and ``states``."""

    title = "status"
    states: Sequence[str] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state_words(state)) for state in self.states]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


class PlainForm(forms.ModelForm):  # type: ignore[type-arg]  # of whichever model
    """Names its fields without a colon."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **options})


class RevealingAdmin(admin.ModelAdmin[M]):
    """Lists in which nothing hides: columns that are named by a stored text, or by a row that is pointed to, are drawn
    as all that somebody wrote."""

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [self._listed(column) for column in super().get_list_display(request)]

    def _listed(self, column: Any) -> Any:
        if not isinstance(column, str) or hasattr(self, column):
            return column
        field = self.opts.get_field(column)
        return listed_field(field) if isinstance(field, CharField | TextField | ForeignKey) else column


class HistoryAdmin(RevealingAdmin[M]):
    """Nothing can be added, changed or deleted, and every field is read-only.

    ``json_fields`` are left in the database by changelists and folded on the page. ``extra_fields`` are methods that
    the page shows behind the stored fields. ``runtime_fields`` are those that only who looks after the runtime asks
    for: the page has them behind a line. ``secret_fields`` are never loaded.
    """

    form = PlainForm

    json_fields: Sequence[str] = ()
    extra_fields: Sequence[str] = ()
    runtime_fields: Sequence[str] = ()
    secret_fields: Sequence[str] = ()
    deferred: Sequence[str] | None = None
    """What changelists leave in the database; ``json_fields`` unless it is set."""

    change_form_template = "admin/envelopes/history_form.html"
    change_list_template = "admin/envelopes/history_list.html"
    object_history_template = "admin/envelopes/object_history.html"
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    empty_value_display = "\N{EN DASH}"
    show_facets = admin.ShowFacets.NEVER

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For those who may see the conversation (R10) and rows of this kind. A right to change opens nothing."""
        kind = f"{self.opts.app_label}.view_{self.opts.model_name}"
        return principal_of(request).may_view_all() and request.user.has_perm(kind)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        hidden = {*self.json_fields, *self.secret_fields, self.opts.pk.name}
        stored = [
            self._shown(request, field) for field in self.opts.concrete_fields if field.name not in hidden
        ]
        return [*stored, *self.extra_fields, *(folded_field(name) for name in self.json_fields)]

    def _shown(self, request: HttpRequest, field: Field[Any, Any]) -> Any:
        """A stored field by name, or in our own hands: what people wrote, and rows that this one points to."""
        if isinstance(field, ForeignKey):
            # Named only for those who may see it: a title is a part of a conversation.
            other = self.admin_site._registry.get(field.related_model)
            return linked_field(field.name, linked=other is not None and other.has_view_permission(request))
        is_text = isinstance(field, CharField | TextField) and not field.choices
        if is_text and field.name not in ("state", "status"):
            return text_field(field.name)
        return stored_field(field)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = self.get_fields(request, obj)
        beside = [one for one in fields if getattr(one, "__name__", one) in self.runtime_fields]
        main = [one for one in fields if one not in beside]
        behind = [(_("Runtime"), {"fields": beside, "classes": ["collapse"]})] if beside else []
        return [(None, {"fields": main}), *behind]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        # Without an order, unlike the stock method: the changelist orders, also by what subclasses annotate here.
        rows = self.model._default_manager.get_queryset().defer(*self.secret_fields)
        if is_changelist(request):
            rows = rows.defer(*(self.json_fields if self.deferred is None else self.deferred))
        return rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> M | None:
        """Once a request: the stock page asks for it again."""
        asked = (self.opts.label, object_id, from_field)
        known = getattr(request, "object_shown", None)
        if known is None or known[0] != asked:
            known = asked, super().get_object(request, object_id, from_field)
            request.object_shown = known  # type: ignore[attr-defined]
        return known[1]

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_raw"
        raw = path("<path:object_id>/raw/<slug:field>/", self.admin_site.admin_view(self.raw_view), name=name)
        return [raw, *super().get_urls()]

    def raw_view(self, request: HttpRequest, object_id: str, field: str) -> HttpResponse:
        """One JSON field, whole, as a download: never as a page of this site."""
        obj = self.visible(request, object_id)
        if field not in self.json_fields:
            raise Http404
        return download(f"{self.opts.model_name}-{obj.pk}-{field}.json", getattr(obj, field))

    def visible(self, request: HttpRequest, object_id: str) -> M:
        """The object, or the answer that the stock pages give to somebody who may not see it."""
        obj = self.get_object(request, unquote(object_id))
        if obj is None:
            raise Http404
        if not self.has_view_permission(request, obj):
            raise PermissionDenied
        return obj

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().history_view(request, object_id, {"media": self.media, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        """The name of the row stands in the head of the page too, with names for what it hides; in the title of the
        window, which holds no markup, without."""
        name = str(kwargs.get("obj") or "")
        context |= {"crumb": brief(name, 120), "subtitle": text(name) if context.get("subtitle") else None}
        return super().render_change_form(request, context, *args, **kwargs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        refuse_nul(request)
        try:
            response = super().changelist_view(request, extra_context)
        except OverflowError as error:
            # SQLite's, of a number that a filter of Django's own takes from the address.
            raise BadRequest("A number in a filter is too large.") from error
        changelist = getattr(response, "context_data", None) and response.context_data.get("cl")  # type: ignore[attr-defined]
        if isinstance(changelist, ChangeList) and getattr(changelist.paginator, "capped", False):
            told = _("Showing the first {}. Search or filter to find the rest.")
            messages.info(request, told.format(f"{COUNTED:,}"))
        return response


def refuse_nul(request: HttpRequest) -> None:
    """PostgreSQL takes no text with NUL. What is searched for is cleaned before it is."""
    if any("\0" in value for key in request.GET.keys() - {SEARCH_VAR} for value in request.GET.getlist(key)):
        raise BadRequest("NUL in a filter.")


def download(name: str, value: Any) -> HttpResponse:
    """JSON as a file."""
    response = HttpResponse(pretty(value), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def is_changelist(request: HttpRequest) -> bool:
    """Whether a list is asked for, which leaves in the database what it does not show."""
    match = request.resolver_match
    return match is not None and str(match.url_name).endswith("_changelist")


# -- owners: one query for a whole list --------------------------------------------------------------------------


def with_owner(rows: QuerySet[M], session: str = "session_id") -> QuerySet[M]:
    """``rows`` with ``owner_name`` and ``owner_login``; ``session`` is the field that holds the session's key."""
    owners = Participant.objects.filter(session=OuterRef(session), role=Participant.Role.OWNER).order_by("pk")
    return rows.annotate(  # type: ignore[return-value]  # the same rows, with two names more
        owner_name=Subquery(owners.values("name")[:1]),
        owner_login=Subquery(owners.values("user__username")[:1]),
    )


def owner_of(obj: Any) -> SafeString:
    """The owner of a row of ``with_owner``: a name, an account, or a visitor without one."""
    name, login = obj.owner_name, obj.owner_login
    if name and login and name != login:
        return reveal(f"{name} ({login})")
    return reveal(name or login or _("Visitor"))
