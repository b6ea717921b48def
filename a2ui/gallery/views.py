"""The two requests of the gallery: a program at a step, and one thing that a person did with a surface."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.middleware import HtmxDetails

from a2ui.errors import A2uiError
from a2ui.gallery import presentation, samples
from a2ui.gallery import request as play_request
from a2ui.gallery.access import TooMuch, aside, counted, guarded
from a2ui.gallery.conf import conf
from a2ui.gallery.replay import Done, Played, Replay, size_of

REGIONS = ("notice", "state", "steps", "thread", "message", "sent", "data", "agent", "tabs")
"""What an answer brings anew: the id of an element, and `templates/gallery/<id>.html` inside of it."""
AFTER_RUN = ("program", "name", "about")
AFTER_DOING = ("notice", "state", "sent", "data", "agent", "tabs")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("journal")
@guarded
async def bench(request: HttpRequest) -> HttpResponse:
    """The page, or with htmx its parts. What cannot be run changes nothing but the notice."""
    fields = request.POST if request.method == "POST" else request.GET
    try:
        await counted(request)
        return await aside(_bench, request, fields)
    except A2uiError as error:
        return _fault(request, error, fields)


@require_POST
@never_cache
@sensitive_post_parameters("journal", "doing")
@guarded
async def act(request: HttpRequest) -> HttpResponse:
    """An edit, a click or a wish for more: fragments for the surface, and parts for what stands around it."""
    try:
        await counted(request)
        return await aside(_act, request)
    except A2uiError as error:
        # To be refused is an answer like any other: whoever types a number goes through things that are none.
        return JsonResponse(
            {"refused": error.message, "code": error.code}, status=_status(error, asked_by_script=True)
        )


def _bench(request: HttpRequest, fields: QueryDict) -> HttpResponse:
    asked = play_request.requested(fields) if request.method == "POST" else _sample(fields)
    if "run" in fields:
        play_request.read(asked.draft)
        known = samples.find(asked.sample)
        name = asked.sample if known is not None and known.program == asked.draft else ""
        asked = replace(asked, program=asked.draft, journal=(), step=play_request.MESSAGES, sample=name)
    if "over" in fields:
        asked = replace(asked, journal=())
    converted = asked.converted()
    replay = Replay(asked, converted.messages, hosts=conf.image_hosts)
    played = replay.overview()
    asked = replace(asked, journal=tuple(played.journal))
    context = _context(asked, converted.messages, played, replay.last)
    context |= {"sample": samples.find(asked.sample), **presentation.conversion(converted.notes)}
    if HtmxDetails(request):
        return _answer(_parts(request, context, REGIONS + AFTER_RUN * ("run" in fields)))
    context |= {"groups": samples.groups()}
    return _answer(render_to_string("beach/gallery/page.html", context, request))


def _act(request: HttpRequest) -> HttpResponse:
    asked = play_request.requested(request.POST)
    messages = asked.messages()
    replay = Replay(asked, messages, hosts=conf.image_hosts)
    doing = play_request.new_doing(request.POST.get("doing", ""), at=replay.last, ms=int(time.time() * 1000))
    # PlayRequest before it is done: the journal may be full.
    asked.doing(doing)
    done = replay.do(doing)
    after = replace(asked, journal=tuple(done.played.journal)).doing(doing)
    context = _context(after, messages, done.played, replay.last) | _doing(done)
    return JsonResponse(
        {
            "ops": done.ops,
            "effect": {"openUrl": done.url} if done.url else {},
            "parts": _parts(request, context, AFTER_DOING),
        }
    )


def _sample(fields: QueryDict) -> play_request.PlayRequest:
    """The sample of the address, with the switches that go with it unless the address has others."""
    sample = samples.find(fields.get("sample", "")) or samples.ours()[0]
    asked = play_request.requested({**dict(sample.switches), **fields.dict(), "journal": ""})
    return replace(asked, program=sample.program, draft=sample.program, sample=sample.name)


def _context(
    asked: play_request.PlayRequest, messages: list[Any], played: Played, last: int
) -> dict[str, Any]:
    step = played.steps[last - 1] if 0 < last <= len(played.steps) else None
    rows = presentation.step_rows(messages, played)
    ops = step.ops if step else ()
    agent = presentation.said(played.said)
    return {
        "asked": asked,
        "journal": play_request.written_journal(asked.journal),
        "doings": len(asked.journal),
        "step": step,
        "at": last,
        "before": max(0, last - 1),
        "after": min(len(rows), last + 1),
        "rows": rows,
        # Every piece of it was escaped or sanitised by the engine.
        "surfaces": [
            {"id": name, "version": version, "html": mark_safe(html)}  # noqa: S308
            for name, version, html in played.seen.surfaces
        ],
        "message": presentation.message_text(step) if step else None,
        "faults": step.faults if step else (),
        "sent": presentation.fragments(ops),
        "sent_more": max(0, len(ops) - presentation.FRAGMENTS),
        "sent_size": step.size if step else 0,
        "models": presentation.models(played.seen),
        "agent": agent,
        "agent_more": len(played.said) - len(agent),
        "said_count": sum(entry.message is not None for entry in played.said),
        "stopped": played.stopped,
        "lost": played.lost,
        "locales": play_request.LOCALES,
        "zones": play_request.ZONES,
        "versions": play_request.VERSIONS,
        "widths": play_request.WIDTHS,
        "themes": play_request.THEMES,
        "most": play_request.PROGRAM_BYTES,
        "strings": {
            "open": _("Your browser did not open this address by itself:"),
            "tooLong": _("The program has {} bytes; at most {} are run."),
            "failed": _("The server could not answer. Nothing was changed."),
            "stale": _("Your sign-in has changed. Load the page again."),
        },
    }


def _doing(done: Done) -> dict[str, Any]:
    """Instead of what the message sent: what this sent."""
    return {
        "done": True,
        "sent": presentation.fragments(done.ops),
        "sent_more": max(0, len(done.ops) - presentation.FRAGMENTS),
        "sent_size": size_of(done.ops),
    }


def _parts(request: HttpRequest, context: dict[str, Any], names: tuple[str, ...]) -> str:
    parts = [
        {"name": name, "html": render_to_string(f"beach/gallery/{name}.html", context, request)}
        for name in names
    ]
    return render_to_string("beach/gallery/parts.html", {"parts": parts, **context}, request)


def _fault(request: HttpRequest, error: A2uiError, fields: QueryDict) -> HttpResponse:
    """What is wrong, in words. The page of the browser keeps everything; without htmx it is given back."""
    context: dict[str, Any] = {"fault": error}
    if HtmxDetails(request):
        return _answer(_parts(request, context, ("notice",)), _status(error, asked_by_script=True))
    context |= {"draft": fields.get("draft", "")}
    return _answer(render_to_string("beach/gallery/fault.html", context, request), _status(error))


def _answer(text: str, status: int = 200) -> HttpResponse:
    # Half a surrogate pair, which JSON can hold and UTF-8 cannot, may be in anything that a program names.
    return HttpResponse(text.encode("utf-8", "replace"), status=status)


def _status(error: A2uiError, *, asked_by_script: bool = False) -> int:
    if isinstance(error, TooMuch):
        return 429
    return 200 if asked_by_script else 422
