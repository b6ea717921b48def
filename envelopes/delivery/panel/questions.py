"""A question back to the person, and an error: both stand out, both offer the next step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.delivery.panel.markup import SafeString, html, icon, join, text
from envelopes.delivery.panel.prose import markdown
from envelopes.delivery.panel.view import Brush, View
from envelopes.protocol.text import shorten

if TYPE_CHECKING:
    from envelopes.delivery.panel.scene import Scene


@dataclass
class Clarify(View):
    """One question. The person's next message answers it."""

    kind = "clarify"

    actor: str
    question: str
    choices: list[str] = field(default_factory=list)
    answer: str | None = None

    def html(self, brush: Brush) -> SafeString:
        question = html('<div class="b-clarify__q b-prose" dir="auto">{}</div>', markdown(self.question))
        if self.answer is not None:
            return html(
                '<div class="b-clarify" id="{}" data-state="answered">{}'
                '<p class="b-clarify__hint">{} {}</p></div>',
                self.id,
                question,
                icon("check", "b-icon--s"),
                html(_("You answered: {}"), html("<bdi>{}</bdi>", text(self.answer))),
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
            text(_("Question from {}").format(brush.context.name(self.actor))),
            question,
            html('<div class="a2-chips">{}</div>', chips) if self.choices else "",
            _("Choose one, or write your answer below.") if self.choices else _("Write your answer below."),
        )


def ask(scene: Scene) -> None:
    """A clarify part."""
    clarify = Clarify(scene.new_id(), scene.row.actor, scene.words, _choices(scene))
    scene.canvas.add(scene.segment(), clarify)


def _choices(scene: Scene) -> list[str]:
    """Messages that a part offers as buttons."""
    given = scene.data.get("choices") or []
    return [choice for choice in given if isinstance(choice, str) and choice.strip()]


def answered(scene: Scene, words: str) -> None:
    """The next message of the person: it answers every open question."""
    for clarify in scene.canvas.each(Clarify):
        if clarify.answer is None:
            clarify.answer = shorten(words, 200)
            scene.canvas.touch(clarify)


@dataclass
class Problem(View):
    """What failed. ``again`` is what a click on "Try again" sends, empty for no such button; ``choices`` are messages
    that may help where the same again cannot."""

    kind = "problem"

    title: str
    body: str
    code: str = ""
    again: str = ""
    choices: list[str] = field(default_factory=list)

    def html(self, brush: Brush) -> SafeString:
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


def fail(scene: Scene) -> None:
    """An error part."""
    scene.turn.failed = True
    data = scene.data
    title, body = str(data.get("title") or ""), scene.words
    if not title and len(body) <= 80 and "\n" not in body.strip():
        # One short sentence is the headline, not small print below "Something went wrong".
        title, body = body.strip(), ""
    again = scene.turn.asked if data.get("retry") is True else ""
    code = str(data.get("code") or "")
    problem = Problem(scene.new_id(), headline(title), stopped(body), code, again, _choices(scene))
    scene.canvas.add(scene.segment(), problem)


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


def broke(scene: Scene, *, title: str, body: str) -> None:
    """The turn ended in an error of which no part speaks."""
    code = scene.row.data.get("code")
    scene.turn.failed = True
    scene.canvas.add(
        scene.segment(),
        Problem(scene.new_id(), title, body, code if isinstance(code, str) else "", scene.turn.asked),
    )
