"""A question back to the person, and an error: both stand out, both offer the next step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html, icon, join, text
from envelopes.part_types.clarify import CLARIFY
from envelopes.protocol.text import shorten
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored
from envelopes.transports.panel.presenter.prose import markdown
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext


UNANSWERED = ("unanswered",)

BROKEN_OFF = ("cancelled", "error", "timeout")
"""How a turn ends that did not get to say all it had to."""


@stored
@dataclass
class ClarifyView(PartView):
    """One question. The person's next message ends it: as its answer where it is one of the choices. Whether other
    words are an answer or another subject, no row says."""

    kind = CLARIFY.name

    actor: str
    question: str
    choices: list[str] = field(default_factory=list)
    answer: str | None = None
    """The choice that was taken, empty once the conversation went on without one."""

    @property
    def settled(self) -> bool:
        return self.answer is not None

    def keys(self) -> tuple[Key, ...]:
        return (UNANSWERED,) if self.answer is None else ()

    def html(self, render: RenderContext) -> SafeString:
        question = html('<div class="b-clarify__q b-prose" dir="auto">{}</div>', markdown(self.question))
        if self.answer is not None:
            said = html(_("You answered: {}"), html("<bdi>{}</bdi>", text(self.answer)))
            hint = html('<p class="b-clarify__hint">{} {}</p>', icon("check", "b-icon--s"), said)
            return html(
                '<div class="b-clarify" id="{}" data-state="{}">{}{}</div>',
                self.id,
                "answered" if self.answer else "passed",
                question,
                hint if self.answer else "",
            )
        chips = join(
            html(
                '<button class="a2-btn a2-btn--s a2-btn--round" type="button" data-say="{}" dir="auto">{}</button>',
                text(choice),
                text(choice),
            )
            for choice in self.choices
        )
        return html(
            '<div class="b-clarify" id="{}" role="group" aria-label="{}">{}{}<p class="b-clarify__hint">{}</p></div>',
            self.id,
            text(_("Question from {}").format(render.page.name(self.actor))),
            question,
            html('<div class="a2-chips">{}</div>', chips) if self.choices else "",
            _("Choose one, or write your answer below.") if self.choices else _("Write your answer below."),
        )


def ask(context: RowContext) -> None:
    """A clarify part."""
    earlier = context.continued(ClarifyView)
    if earlier is not None:
        earlier.question += context.words
        earlier.choices = _choices(context) or earlier.choices
        context.model.touch(earlier)
        return
    clarify = ClarifyView(context.new_id(), context.row.actor, context.words, _choices(context))
    context.model.add(context.segment(), clarify)
    context.remember(clarify)


def _choices(context: RowContext) -> list[str]:
    """Messages that a part offers as buttons."""
    return _given(context.data)


def _given(data: JsonObject) -> list[str]:
    given = data.get("choices") or []
    return [choice for choice in given if isinstance(choice, str) and choice.strip()]


def answered(context: RowContext, words: str) -> None:
    """The next message of the person: no question is open after it."""
    for clarify in context.model.found(UNANSWERED, ClarifyView):
        chosen = _same(words) in map(_same, clarify.choices)
        clarify.answer = shorten(words, 200) if chosen else ""
        context.model.touch(clarify)


def _same(words: str) -> str:
    """What a choice and a message have in common, whether pressed or typed."""
    return " ".join(text(words).split()).casefold()


@stored
@dataclass
class ProblemView(PartView):
    """What failed. ``again`` is what a click on "Try again" sends, empty for no such button; ``choices`` are messages
    that may help where the same again cannot. ``said`` is what its part has said so far, which makes title and body."""

    kind = "problem"

    title: str
    body: str
    code: str = ""
    again: str = ""
    choices: list[str] = field(default_factory=list)
    said: JsonObject = field(default_factory=dict)

    def html(self, render: RenderContext) -> SafeString:
        act = []
        if self.again:
            act.append(
                html(
                    '<button class="a2-btn a2-btn--s" type="button" data-say="{}">{}</button>',
                    text(self.again),
                    _("Try again"),
                )
            )
        act += [
            html(
                '<button class="a2-btn a2-btn--s" type="button" data-say="{0}" dir="auto">{0}</button>',
                text(choice),
            )
            for choice in self.choices
        ]
        if self.code:
            act.append(details(self.code))
        return html(
            '<div class="b-error" id="{}" role="group" aria-label="{}">{}'
            '<p class="b-error__title" dir="auto">{}</p>{}{}</div>',
            self.id,
            _("Error"),
            icon("alert"),
            text(self.title) if self.title else _("Something went wrong"),
            html('<div class="b-error__body b-prose" dir="auto">{}</div>', markdown(self.body))
            if self.body
            else "",
            html('<div class="b-error__act">{}</div>', join(act)) if act else "",
        )


def details(code: str) -> SafeString:
    """The code of an error, for whoever is asked for it."""
    return html(
        '<details class="b-more"><summary>{}{}</summary><code class="b-error__code">{}</code></details>',
        icon("right", "b-icon--flip"),
        _("Details"),
        text(code),
    )


def fail(context: RowContext) -> None:
    """An error part."""
    context.turn.failed = True
    earlier = context.continued(ProblemView)
    data, words = context.data, context.words
    if earlier is not None:
        data, words = {**earlier.said["data"], **data}, earlier.said["words"] + words
    title, body = str(data.get("title") or ""), words
    if not title and len(body) <= 80 and "\n" not in body.strip():
        # One short sentence is the headline, not small print below "Something went wrong".
        title, body = body.strip(), ""
    again = context.turn.asked if data.get("retry") is True else ""
    code = str(data.get("code") or "")
    told = (headline(title), stopped(body), code, again, _given(data), {"data": data, "words": words})
    if earlier is not None:
        earlier.title, earlier.body, earlier.code, earlier.again, earlier.choices, earlier.said = told
        context.model.touch(earlier)
        return
    problem = ProblemView(context.new_id(), *told)
    context.model.add(context.segment(), problem)
    context.remember(problem)


def headline(words: str) -> str:
    """``words`` as a headline: a single sentence loses its full stop."""
    bare = words.strip().rstrip(".")
    return words.strip() if words.strip().endswith("...") or ". " in bare else bare


def stopped(words: str) -> str:
    """``words`` with one full stop where a sentence of one line ends: pieces that were put together may bring two or
    none."""
    bare = words.rstrip()
    if "\n" in bare or bare.endswith("..."):
        return words
    return f"{bare.rstrip('.')}." if bare.endswith("..") or bare[-1:].isalnum() else words


def ended(context: RowContext, finalized_by: str) -> None:
    """The end of a turn that no part of it has explained."""
    if context.turn.failed:
        return
    if finalized_by == "timeout":
        body = _("The answer was stopped. Try again, or ask for less.")
        _broke(context, title=_("This took too long"), body=body)
    elif finalized_by == "error":
        body = _("The problem is on our side and has been logged. Your messages are saved.")
        _broke(context, title=_("This answer couldn’t be finished"), body=body)


def _broke(context: RowContext, *, title: str, body: str) -> None:
    code = context.row.data.get("code")
    context.turn.failed = True
    context.model.add(
        context.segment(),
        ProblemView(context.new_id(), title, body, code if isinstance(code, str) else "", context.turn.asked),
    )
