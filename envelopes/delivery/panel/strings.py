"""The words that the page's modules need, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _


def strings(name: str) -> dict[str, str]:
    """``name``: what the agent is called."""
    return {
        "answering": _("{} is answering. You can keep writing.").format(name),
        "approvalBelow": _("Approval below"),
        "approvalNeeded": _("Approval needed"),
        "attempt": _(" (attempt {})"),
        "busy": _("{} is answering").format(name),
        "closed": _("Disconnected. Reload the page to reconnect."),
        "connected": _("Connected"),
        "connecting": _("Connecting…"),
        "deciding": _("Saving your decision…"),
        "expiresIn": _("Expires in {}"),
        "hint": _("Enter to send, Shift+Enter for a new line"),
        "newBelow": _("New messages"),
        "notBegun": _("The conversation couldn’t be started. Try again."),
        "offline": _("Offline"),
        "open": _("Open this page:"),
        "queued": _("Messages to send when you’re back: {}."),
        "ready": _("Answer ready"),
        "reconnecting": _("Reconnecting…"),
        "signIn": _("You’ve been signed out. Reload the page to sign in."),
        "slow": _("No answer yet. Still trying."),
        "timeUp": _("Expired"),
        "tooLong": _("Too long to send: {} of {} characters."),
        "waiting": _("Waiting for you"),
        "working": _("Working"),
    }
