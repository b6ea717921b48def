"""The words that the page's modules need, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.conf import conf


def strings(name: str) -> dict[str, str]:
    """``name``: what the agent is called."""
    return {
        "address": _("this address is not allowed to connect."),
        "approvalNeeded": _("Approval needed"),
        "attempt": _("(attempt {})"),
        "busy": _("{} is answering").format(name),
        "copied": _("Copied"),
        "denied": _("this conversation is no longer open to you."),
        "expiresIn": _("Expires in {}"),
        "failed": _("That didn’t work. Try again."),
        "fileEmpty": _("{} cannot be read."),
        "fileLost": _("the files did not get through."),
        "fileMany": _("At most {} files go with one message."),
        "fileStopped": _("you stopped it."),
        "fileTooLarge": _("{} is larger than {}, which is the limit."),
        "notifyBlocked": _("Your browser doesn’t allow notifications from this site."),
        "open": _("Open this page:"),
        "ready": _("Answer ready"),
        "signedOut": _("you were signed out."),
        "slow": _("No answer yet. Still trying."),
        "stale": _("this page is out of date."),
        "timeUp": _("Time is up"),
        "tokenStale": _("Your sign-in has changed. Try again."),
        "too_large": _("it is larger than {} kB, which is the limit.").format(conf.BEACH_FRAME_BYTES // 1024),
        "tooLong": _("{} of {} characters. Shorten it to send."),
        "unmade": _("the conversation could not be started."),
        "unsent": _("Not sent: {}"),
        "unsure": _("Not confirmed: {}"),
        "whyFiles": _("the page was loaded again, which lets go of files. Attach them again: {}"),
        "whyLost": _("there is no connection."),
        "whyReloaded": _("the page was loaded again. Choose again."),
    }
