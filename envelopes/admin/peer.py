"""The programs that may talk to agents here: staff let them in, and see a token once."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from envelopes import peers
from envelopes.admin.base import RevealingAdmin
from envelopes.errors import BeachError
from envelopes.markup.html import reveal
from envelopes.models import Peer
from envelopes.protocol.agent_cards import read_agent_card
from envelopes.registries.scopes import SCOPES, offered


class CardField(forms.JSONField):
    """Empty where there is no card; the stock field writes ``null``."""

    def prepare_value(self, value: Any) -> Any:
        """What stands in the box."""
        return "" if value is None else super().prepare_value(value)


class PeerForm(forms.ModelForm[Peer]):
    """Scopes as boxes to check, the card as JSON."""

    scopes = forms.MultipleChoiceField(
        choices=[(name, offered(name)) for name in SCOPES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label=gettext_lazy("Scopes"),
    )

    def clean_card(self) -> Any:
        """Read as it will be when it is used."""
        card = self.cleaned_data["card"]
        if card is not None:
            try:
                read_agent_card(card)
            except BeachError as error:
                raise forms.ValidationError(error.message) from error
        return card

    class Meta:
        model = Peer
        fields = ("name", "scopes", "rate", "card", "is_active")
        field_classes: ClassVar[dict[str, type[forms.Field]]] = {"card": CardField}
        help_texts: ClassVar[dict[str, Any]] = {
            "rate": gettext_lazy("How many requests a minute it may send to each server process."),
            "card": gettext_lazy("Its Agent Card as JSON: what it consumes is read from there."),
            "is_active": gettext_lazy("When this is off its token is refused, and its open streams end."),
        }


@admin.register(Peer)
class PeerAdmin(RevealingAdmin[Peer]):
    """A peer can be blocked and gets a new token; it is not deleted, since conversations are its own."""

    form = PeerForm
    change_list_template = "admin/envelopes/history_list.html"
    show_facets = admin.ShowFacets.NEVER
    list_display = ("name", "token_hint", "scope_names", "rate", "is_active", "created_at")
    list_filter = ("is_active",)
    search_fields = ("name",)
    readonly_fields = ("token_hint", "created_at")
    actions = ("renew_tokens",)

    @admin.display(description=gettext_lazy("Token"))
    def token_hint(self, peer: Peer) -> str:
        """How it ends: enough to find which one a program has."""
        return (
            reveal(f"{peers.PREFIX}…{peer.token_end}") if peer.token_end else self.get_empty_value_display()
        )

    @admin.display(description=gettext_lazy("Scopes"))
    def scope_names(self, peer: Peer) -> str:
        """The names."""
        return reveal(", ".join(peer.scopes))

    def has_delete_permission(self, request: HttpRequest, obj: Peer | None = None) -> bool:
        """Never."""
        return False

    def save_model(self, request: HttpRequest, obj: Peer, form: Any, change: bool) -> None:
        """A new one gets its token, which the next page shows."""
        if change:
            super().save_model(request, obj, form, change)
            return
        token = peers.new_token(obj)
        super().save_model(request, obj, form, change)
        self._show(request, obj, token)

    @admin.action(description=gettext_lazy("Give a new token"), permissions=["change"])
    def renew_tokens(self, request: HttpRequest, queryset: QuerySet[Peer]) -> None:
        """The old ones are worth nothing from here on."""
        for peer in queryset:
            self._show(request, peer, peers.renew(peer))

    def _show(self, request: HttpRequest, peer: Peer, token: str) -> None:
        told = _("The token of {}. It is shown this once:").format(peer.name)
        messages.warning(request, format_html("{} <code>{}</code>", told, token))
