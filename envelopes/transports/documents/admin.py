"""In the admin: webhooks, who is told of what and what has become of each event; consents, which staff take back."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from envelopes.access import principal_of
from envelopes.admin.base import HistoryAdmin, RevealingAdmin, StateFilter
from envelopes.errors import BeachError
from envelopes.models import Consent, WebhookDelivery, WebhookSubscription
from envelopes.transports.documents.governance.consents import take_back
from envelopes.transports.documents.webhooks import subscribing
from envelopes.transports.documents.webhooks.events import EVENTS


class SubscriptionForm(forms.ModelForm[WebhookSubscription]):
    """Events as boxes to check; none for all."""

    events = forms.MultipleChoiceField(
        choices=[(name, f"{name}: {what}") for name, what in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label=gettext_lazy("Events"),
        help_text=gettext_lazy("None for all."),
    )

    def clean_url(self) -> str:
        """One that webhooks may be sent to."""
        url: str = self.cleaned_data["url"]
        try:
            subscribing.check_url(url)
        except BeachError as error:
            raise forms.ValidationError(error.message) from error
        return url

    class Meta:
        model = WebhookSubscription
        fields = ("name", "url", "events", "peer", "is_active")
        help_texts: ClassVar[dict[str, Any]] = {
            "peer": gettext_lazy("Conversations of this peer alone; else all."),
            "is_active": gettext_lazy("What happens without this is not told later."),
        }


class SubscriptionAdmin(RevealingAdmin[WebhookSubscription]):
    """The secret is shown once, when it is made."""

    form = SubscriptionForm
    change_list_template = "admin/envelopes/history_list.html"
    show_facets = admin.ShowFacets.NEVER
    list_display = ("name", "url", "event_names", "peer", "is_active", "waiting", "given_up")
    list_filter = ("is_active",)
    search_fields = ("name", "url")
    readonly_fields = ("created_at",)
    actions = ("renew_secrets", "retry")

    @admin.display(description=gettext_lazy("Events"))
    def event_names(self, one: WebhookSubscription) -> str:
        """The names."""
        return ", ".join(one.events) or _("All")

    @admin.display(description=gettext_lazy("Waiting"))
    def waiting(self, one: WebhookSubscription) -> int:
        """Events that are on their way."""
        return one.deliveries.filter(state="pending").count()

    @admin.display(description=gettext_lazy("Given up"))
    def given_up(self, one: WebhookSubscription) -> int:
        """Events that did not get through."""
        return one.deliveries.filter(state="dead").count()

    def save_model(self, request: HttpRequest, obj: WebhookSubscription, form: Any, change: bool) -> None:
        """A new one gets its secret, which the next page shows."""
        if change:
            super().save_model(request, obj, form, change)
            if "is_active" in form.changed_data:
                obj.is_active = not obj.is_active
                subscribing.set_active(obj, active=not obj.is_active)
            return
        secret = subscribing.new_secret(obj)
        super().save_model(request, obj, form, change)
        self._show(request, obj, secret)

    @admin.action(description=gettext_lazy("Give a new secret"), permissions=["change"])
    def renew_secrets(self, request: HttpRequest, queryset: QuerySet[WebhookSubscription]) -> None:
        """What is sent from here on is signed with it."""
        for one in queryset:
            secret = subscribing.new_secret(one)
            one.save(update_fields=["secret"])
            self._show(request, one, secret)

    @admin.action(description=gettext_lazy("Try again what has been given up"), permissions=["change"])
    def retry(self, request: HttpRequest, queryset: QuerySet[WebhookSubscription]) -> None:
        """In the order in which it happened."""
        count = sum(subscribing.retry(one) for one in queryset)
        messages.info(request, _("{} will be tried again.").format(count))

    def _show(self, request: HttpRequest, one: WebhookSubscription, secret: str) -> None:
        told = _("The secret of {}. It is shown this once:").format(one.name)
        messages.warning(request, format_html("{} <code>{}</code>", told, secret))


class DeliveryState(StateFilter):
    """By what became of it."""

    title = "state"
    parameter_name = "state"
    states = ("pending", "delivered", "dead")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("pending", _("Waiting")),
            ("delivered", _("Delivered")),
            ("dead", _("Given up")),
        ]


class DeliveryAdmin(HistoryAdmin[WebhookDelivery]):
    """What was sent, how often it was tried, and what the service said."""

    list_display = ("event_type", "subscription", "state", "attempts", "status", "next_at", "created_at")
    list_filter = (DeliveryState, "subscription", "event_type")
    search_fields = ("event_id", "resource_id")
    ordering = ("-pk",)
    list_select_related = ("subscription",)
    json_fields = ("data",)


class ConsentState(StateFilter):
    """By what was said last."""

    title = "state"
    parameter_name = "state"
    states = ("asked", "granted", "refused")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("asked", _("Asked")), ("granted", _("Granted")), ("refused", _("Refused"))]


class ConsentAdmin(HistoryAdmin[Consent]):
    """What people were asked for experiments, and what they said."""

    list_display = ("track_id", "flag", "session", "state", "listens", "asked_at", "decided_at")
    list_filter = (ConsentState,)
    search_fields = ("track_id", "flag", "owner")
    ordering = ("-pk",)
    list_select_related = ("session",)
    actions = ("take_back",)

    def has_take_back_permission(self, request: HttpRequest) -> bool:
        """For those who decide in all conversations (R10)."""
        return principal_of(request).may_decide_all()

    @admin.action(description=gettext_lazy("Take back what was granted"), permissions=["take_back"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Consent]) -> None:
        """What it let through is not shown any more, from now on."""
        count = sum(take_back(one, principal_of(request)) for one in queryset)
        messages.info(request, _("{} taken back.").format(count))


def register() -> None:
    """All of them."""
    admin.site.register(Consent, ConsentAdmin)
    admin.site.register(WebhookSubscription, SubscriptionAdmin)
    admin.site.register(WebhookDelivery, DeliveryAdmin)
