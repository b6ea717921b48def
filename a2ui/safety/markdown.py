"""Simple Markdown to a small, safe piece of HTML (rulebook 17.4, decisions D33 and D52).

markdown-it-py reads it with raw HTML off, so tags are shown as text; images become their alternative text; links
go through `urls.safe_link`. bleach then lets through what is listed here and nothing else: two independent
layers, so that a fault in one is not a hole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from threading import local
from typing import Any, NamedTuple

import bleach
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_core.text_join import text_join
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from a2ui.safety.text import clean_text, clip, escape
from a2ui.safety.urls import safe_link

TAGS = frozenset({
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
})  # fmt: skip
_ATTRIBUTES = {"a": {"href", "rel", "target"}, "ol": {"start"}}
_ALIGNED = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}
PROTOCOLS = frozenset({"http", "https", "mailto"})

_MAX_LEVEL = 20
_MAX_NESTING = 2 * _MAX_LEVEL
_MAX_HTML_CHARS = 40_000
_MAX_CELLS = 1_500
_CACHED = 1024
_LEAST = 5
"""Marks that any text counts for."""
_CHARS = 25
_STOPS = "#$%+-:=@^{}"
_STOPS_A_MARK = 8
_ESCAPED_A_MARK = 2
_MAX_ESCAPED = 2_000
"""Escaped characters that the sanitiser takes in one text."""
_CACHED_CHARS = 1_000

# Anything that could begin Markdown inside a line, and at the start of one.
_MARK = re.compile(r"[*_`\[\]\\\n\r\t]")
_ENTITY = re.compile("&[#A-Za-z]")
_STARTS = frozenset(" #>=|-+0123456789")
_START = re.compile(r"[ #>=|]|[-+](?:[ \-]|$)|[0-9]{1,9}[.)](?: |$)")
_HEADING_MARKS = re.compile(r"\s{0,3}#{1,6}(?:[ \t]+|$)")
_BARE = "blockquote|code|em|h[1-6]|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul"
_HARMLESS = re.compile(
    rf"(?:[^<>&\x00-\x08\x0b-\x1f\x7f-\x9f]++|&(?:amp|lt|gt|quot);|</?(?:{_BARE})>|<[bh]r>)*+"
)
_PAIRED = re.compile(rf"<(/?)({_BARE})>")


class Markdown(NamedTuple):
    """HTML, and whether the text was too long: then it is plain (or even shortened) and a notice is due.

    `crowded`: the drawing has read too much Markdown before, see `Limits.markdown_work`.
    """

    html: str
    cut: bool = False
    crowded: bool = False


def is_plain(text: str) -> bool:
    """Whether the text holds no Markdown, so that its HTML is one paragraph of escaped text. Errs towards no."""
    if _MARK.search(text) or "~~" in text or "  " in text or ("&" in text and _ENTITY.search(text)):
        return False
    if text[-1:] == " " or (text[:1] in _STARTS and _START.match(text)):
        return False
    # Only an autolink makes "<" more than text, and that needs a colon or an at sign.
    return "<" not in text or not (":" in text or "@" in text)


def render(
    text: str,
    *,
    inline: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    afford: Callable[[str, int], bool] | None = None,
) -> Markdown:
    """Block HTML of the text, or with `inline` phrasing content only (headings, captions, labels).

    `afford` is asked before a text is read, with what that costs in marks.
    Takes milliseconds for a kilobyte of real Markdown: not for the event loop.
    """
    text, shortened = clip(text, limits.text_chars)
    text = clean_text(text)
    if shortened or len(text) > limits.markdown_chars:
        return _plain(text, inline)
    if is_plain(text):
        html = escape(text)
        return Markdown(html if inline or not html else f"<p>{html}</p>\n")
    marks = marks_in(text)
    if marks > limits.markdown_marks:
        return _plain(text, inline)
    if afford is not None and not afford(text, marks + max(_LEAST, _length(text))):
        return _plain(text, inline)._replace(crowded=True)
    return (_render_cached if len(text) <= _CACHED_CHARS else _render)(text, inline)


def marks_in(text: str) -> int:
    """How much there is to do for the parser, whose time grows with these and worse than linearly with brackets."""
    data = text.encode("utf-8", "surrogatepass")
    # Counting them one by one takes eight times as long, and what is written is counted piece by piece.
    return len(data) - len(data.translate(None, _MARKS)) + 2 * data.count(b"[")


_MARKS = b"[]*_`~<&\\!\n@"


def _length(text: str) -> int:
    """What the length of a text costs, in marks: the parser stops at characters that might begin something, and the
    sanitiser takes every escaped one by itself."""
    stops, escaped = sum(map(text.count, _STOPS)), text.count('"') + text.count(">")
    return len(text) // _CHARS + stops // _STOPS_A_MARK + escaped // _ESCAPED_A_MARK


def _plain(text: str, inline: bool) -> Markdown:
    html = escape(text).replace("\n", "<br>")
    return Markdown(html if inline else f"<p>{html}</p>\n", cut=True)


def _render(text: str, inline: bool) -> Markdown:
    if crowded(*_table_size(text)):
        return _plain(text, inline)
    if inline and (marks := _HEADING_MARKS.match(text)):
        text = text[marks.end() :]
    tools = _TOOLS
    env: dict[str, Any] = {}
    tokens = tools.parser.parseInline(text, env) if inline else tools.parser.parse(text, env)
    html = _written(tokens, env)
    return _plain(text, inline) if html is None else Markdown(html)


def block_tokens(text: str, references: MutableMapping[str, Any]) -> list[Token]:
    """The blocks of a clean text with complete lines, what is inside of them not read yet. New targets of links are
    added to `references`, by label."""
    tokens: list[Token] = []
    parser = _TOOLS.parser
    parser.block.parse(text, parser, {"references": references}, tokens)
    return tokens


def draw(tokens: list[Token], references: MutableMapping[str, Any]) -> str | None:
    """The HTML of such blocks, sanitised; None where a text with them is shown plain."""
    parser = _TOOLS.parser
    env: dict[str, Any] = {"references": references}
    for token in tokens:
        if token.type == "inline" and token.children is not None:
            if is_plain(token.content):
                token.children.append(Token("text", "", 0, content=token.content))
            else:
                parser.inline.parse(token.content, parser, env, token.children)
    text_join(StateCore("", parser, env, tokens))
    return _written(tokens, env)


def _written(tokens: list[Token], env: dict[str, Any]) -> str | None:
    tools = _TOOLS
    if any(token.level > _MAX_LEVEL for token in tokens):
        # Beyond maxNesting the parser drops text silently; showing all of it plainly is the honest answer.
        return None
    for token in tokens:
        if token.tag in ("th", "td") and token.attrs:
            # The parser says it with a style, which no page of ours takes.
            token.attrs = {"align": _ALIGNED[str(token.attrs["style"])]}
    html: str = tools.parser.renderer.render(tokens, tools.parser.options, env)
    if is_too_long(html):
        return None
    if _is_harmless(html):
        return html
    return None if html.count("&") > _MAX_ESCAPED else str(tools.cleaner.clean(html))


def is_too_long(html: str, before: int = 0) -> bool:
    """Whether the HTML of a text comes to more than is shown: wide tables and reference links multiply a small text.
    `before`: characters of HTML that stand in front of it."""
    return before + len(html) > _MAX_HTML_CHARS


def crowded(lines: int, widest: int) -> bool:
    """Whether a text of so many lines, the widest with so many bars, may hold more cells than are shown. An upper
    bound: a table fills every row up to the width of its head."""
    return lines * widest > _MAX_CELLS


def _is_harmless(html: str) -> bool:
    """Whether this is nothing but escaped text and elements without attributes, each closed in its turn: then the
    sanitiser, which takes most of the time, would change nothing. Knows nothing of the parser."""
    if not _HARMLESS.fullmatch(html):
        return False
    opened: list[str] = []
    for closing, tag in _PAIRED.findall(html):
        if not closing:
            opened.append(tag)
        elif not opened or opened.pop() != tag:
            return False
    return not opened


def allowed(tag: str, name: str, value: str) -> bool:
    """Whether an element may have the attribute: bleach's rule."""
    if name == "align":
        return tag in ("th", "td") and value in _ALIGNED.values()
    return name in _ATTRIBUTES.get(tag, ())


def _table_size(text: str) -> tuple[int, int]:
    lines = text.split("\n")
    return len(lines), max([line.count("|") for line in lines])


_render_cached = lru_cache(maxsize=_CACHED)(_render)


class _Tools(local):
    """Parser and sanitiser of one thread: both keep state while they work."""

    def __init__(self) -> None:
        self.parser = _parser()
        self.cleaner = bleach.Cleaner(
            tags=TAGS, attributes=allowed, protocols=PROTOCOLS, strip=False, strip_comments=False
        )


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False, "maxNesting": _MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    parser.validateLink = lambda url: safe_link(url) is not None  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("fence", _fence)
    return parser


def _link_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    href = safe_link(tokens[index].attrGet("href"))
    if href is None:
        return "<a>"
    return f'<a href="{escape(href)}" rel="noopener noreferrer nofollow" target="_blank">'


def _image(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return escape(self.renderInlineAsText(tokens[index].children, options, env))


def _fence(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    # Without the info string, which would become a class name.
    return f"<pre><code>{escape(tokens[index].content)}</code></pre>\n"


_TOOLS = _Tools()
