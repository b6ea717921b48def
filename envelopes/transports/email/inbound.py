"""Where a mail service or a script posts raw mails: ``POST /mail/inbound``, signed with BEACH_MAIL_SECRET."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from envelopes.conf import conf
from envelopes.errors import Forbidden, TooLarge, Unavailable
from envelopes.transports import signed_posts
from envelopes.transports.email.reading import MAIL_BYTES
from envelopes.transports.email.receiving import receive

SCOPE = "mail-inbound"


# A program has no cookie that could be misused; what it posts is signed.
@csrf_exempt
@require_POST
@never_cache
def inbound(request: HttpRequest) -> HttpResponse:
    """200 ``{state, told}`` whatever became of the mail, and for one that came before; 403 for a post that is not
    signed, 413 for one that is too large, 503 where it should come again. 404 without a secret."""
    if not conf.BEACH_MAIL_SECRET:
        return HttpResponseNotFound()
    try:
        body = signed_posts.body_of(request, MAIL_BYTES)
        signed_posts.verify(request, body, conf.BEACH_MAIL_SECRET)
        if signed_posts.came_before(request, SCOPE):
            return JsonResponse({"state": "ignored", "told": "It came before."})
    except TooLarge as error:
        return JsonResponse(error.as_dict(), status=413)
    except Forbidden as error:
        return JsonResponse(error.as_dict(), status=403)
    except Unavailable as error:
        return JsonResponse(error.as_dict(), status=503)
    done = receive(body)
    if done.again:
        return JsonResponse({"state": done.state, "told": done.told}, status=503)
    # Only now: one that could not be looked at has to come again. Two at once are one decision all the same.
    signed_posts.use_up(request, SCOPE)
    return JsonResponse({"state": done.state, "told": done.told})
