"""The words that the page's modules need, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _


def strings(name: str) -> dict[str, str]:
    """``name``: what the agent is called."""
    return {
        "answering": _("{} is answering. You can keep writing.").format(name),
        "approvalBelow": _("Approval below"),
        "approvalNeeded": _("Approval needed"),
        "attempt": _(", try {}"),
        "busy": _("{} is answering").format(name),
        "closed": _("Not connected. Load the page again."),
        "connected": _("Connected"),
        "connecting": _("Connecting"),
        "copied": _("Copied"),
        "deciding": _("Saving your decision"),
        "expiresIn": _("Expires in {}"),
        "hint": _("Enter sends, Shift and Enter for a new line"),
        "newBelow": _("New below"),
        "notBegun": _("The conversation could not be started. Try again."),
        "offline": _("Offline"),
        "open": _("Open this page:"),
        "queued": _("Messages waiting: {}. They are sent when you are back."),
        "ready": _("Answer ready"),
        "reconnecting": _("Reconnecting"),
        "signIn": _("You are signed out. Load the page again to sign in."),
        "slow": _("No answer yet. Still trying."),
        "timeUp": _("Time is up"),
        "tooLong": _("{} of {} characters. Shorten it to send."),
        "waiting": _("Waiting for you"),
        "working": _("Working"),
    }
