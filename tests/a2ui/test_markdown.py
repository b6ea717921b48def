from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.safety import markdown
from a2ui.safety.limits import Limits
from a2ui.safety.text import clean_text, escape
from tests.fuzz.cost import BOUND_MS, cost
from tests.shared import caselib, needs_shared, variants, xss_payloads


def html(text, **options):
    return markdown.render(text, **options).html


class TestRender:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("hello", "<p>hello</p>\n"),
            ("", ""),
            ("**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>\n"),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
            ("3. a", '<ol start="3">\n<li>a</li>\n</ol>\n'),
            ("> q", "<blockquote>\n<p>q</p>\n</blockquote>\n"),
            ("# H", "<h1>H</h1>\n"),
            (
                "|a|b|c|\n|-|:-:|-:|\n|1|2|3|",
                (
                    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="center">b</th>\n<th align="right">c</th>\n'
                    "</tr>\n</thead>\n<tbody>\n<tr>\n"
                    '<td>1</td>\n<td align="center">2</td>\n<td align="right">3</td>\n</tr>\n</tbody>\n</table>\n'
                ),
            ),
            ("a  \nb", "<p>a<br>\nb</p>\n"),
            ("---", "<hr>\n"),
            ("```py\nx < 1\n```", "<pre><code>x &lt; 1\n</code></pre>\n"),
            ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
            ("a &amp; b", "<p>a &amp; b</p>\n"),
            ("![alt *t*](https://e.example/p.png)", "<p>alt t</p>\n"),
            ("[x](javascript:xss())", "<p>[x](javascript:xss())</p>\n"),
            (
                '[x](https://a.example/?a=1&b=2 "t")',
                (
                    '<p><a href="https://a.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">'
                    "x</a></p>\n"
                ),
            ),
        ],
    )
    def test_blocks(self, text, expected):
        assert html(text) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("# Contact Us", "Contact Us"),
            ("a *b*", "a <em>b</em>"),
            ("- a", "- a"),
            ("x < y", "x &lt; y"),
            ("#1 of 3", "#1 of 3"),
        ],
    )
    def test_inline(self, text, expected):
        assert html(text, inline=True) == expected

    def test_tables(self):
        assert "<td>1</td>" in html("|a|b|\n|-|-|\n|1|2|")


class TestLimits:
    def test_a_long_text_is_plain_with_a_notice(self):
        found = markdown.render("**a**\n" * 2000)

        assert found.cut
        assert "<strong>" not in found.html
        assert "**a**<br>**a**" in found.html

    def test_text_beyond_the_limit_is_shortened(self):
        found = markdown.render("x" * 500, limits=dataclasses.replace(Limits(), text_chars=100))

        assert found == markdown.Markdown("<p>" + "x" * 100 + "</p>\n", cut=True)

    def test_deep_nesting_loses_no_text(self):
        found = markdown.render("> " * 500 + "end of it")

        assert found.cut
        assert "end of it" in found.html

    def test_tables_do_not_multiply(self):
        found = markdown.render("|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|\n" * 500)

        assert found.cut
        assert len(found.html) < 20_000


PATHOLOGICAL = {
    "quotes": "> " * 3999 + "x",
    "brackets": "[" * 7999,
    "links": '[]( "' * 1500,
    "stars": "**a " * 1999,
    "backticks": "`a``b" * 1500,
    "rules": "-\n" * 3999,
    "images": "![" * 3999,
    "underscores": "*a_" * 2600,
    "references": "[a]" * 2600 + "\n\n[a]: http://x.example",
    "entities": "&" * 7999,
    "autolinks": "<http://a>" * 799,
    "rows": "|a|b|\n|-|-|\n" + "|1|2|\n" * 1200,
    "lists": "".join("  " * i + "- x\n" for i in range(80)),
    "less": "<a " * 2600,
    "spaces": "[]:0" + " " * 7900 + "0",
    "escapes": "\\" * 7999,
    "strikes": "~~a" * 2600,
}


class TestSpeed:
    @pytest.mark.parametrize("name", PATHOLOGICAL)
    def test_nothing_is_slow(self, name):
        made = []

        # Longer than what is kept, so that every try reads it.
        assert len(PATHOLOGICAL[name]) > markdown._CACHED_CHARS
        assert cost(lambda: made.append(markdown.render(PATHOLOGICAL[name]))) <= BOUND_MS
        assert all(len(found.html) < 150_000 for found in made)

    @pytest.mark.parametrize("piece", ["<a", "< ", "&", "&#", "1.", "a:<", "#", "-"])
    def test_telling_plain_text_is_fast(self, piece):
        assert cost(lambda: markdown.is_plain(piece * 20_000)) <= BOUND_MS

    @needs_shared
    @pytest.mark.parametrize(
        ("given_input", "expected"),
        [p for p in variants("limits") if p.values[0]["kind"] == "markdown_generated"],
    )
    def test_case(self, given_input, expected):
        text, made = caselib().generate_markdown(given_input), []

        assert cost(lambda: made.append(html(text)), bound=expected["max_ms"]) <= expected["max_ms"]
        found = made[-1]
        assert "\0" not in found
        assert all(word in found for word in expected.get("text_contains", {}).values())

    def test_threads_do_not_disturb_each_other(self):
        texts = [f"**{n}** [l](https://a.example/{n})\n\n- {n}" for n in range(200)]
        alone = [markdown._render(text, inline=False) for text in texts]

        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda text: markdown._render(text, inline=False), texts))

        assert together == alone


class TestIsPlain:
    @pytest.mark.parametrize(
        "text",
        ["hello", "Amber & basil <5>", "5 > 3", "a-b", "1.5 kg", "e.g. this", "2026-01-01", "$5 + tax!", ""],
    )
    def test_plain(self, text):
        assert markdown.is_plain(text)

    @pytest.mark.parametrize(
        "text",
        [
            "*a*",
            "a\nb",
            "# h",
            "- x",
            "+ x",
            "1. x",
            "1)",
            "-",
            "> q",
            "    code",
            "`c`",
            "[x]",
            "&amp;",
            "<http://a>",
            "<a@b.cc>",
            "---",
            "a\\*",
            "~~x~~",
            "__x__",
            "***",
        ],
    )
    def test_not_plain(self, text):
        assert not markdown.is_plain(text)

    @settings(max_examples=250)
    @given(st.text(st.sampled_from("ab1 *_`~[]()<>&;#!|-+=.:@\\\"'\n\t/"), max_size=20))
    def test_plain_text_is_one_escaped_paragraph(self, text):
        if markdown.is_plain(text) and text:
            full = markdown._render(text, inline=False).html
            assert html(text) == full.replace('"', "&quot;")
            assert html(text, inline=True) == markdown._render(text, inline=True).html.replace('"', "&quot;")


@needs_shared
class TestXss:
    @pytest.mark.parametrize("inline", [False, True])
    @pytest.mark.parametrize("entry", xss_payloads())
    def test_payload(self, entry, inline):
        payload = entry["payload"]

        findings = caselib().xss_findings(
            html(payload, inline=inline), html("benign", inline=inline), payload
        )

        assert findings == []

    @settings(max_examples=100, deadline=None)
    @given(st.text(st.sampled_from("<>&\"'/ab[](){}!=:;javscript#\n`*-\\\t\u202e\0x")))
    def test_any_text(self, text):
        assert caselib().xss_findings(html(text), html("benign"), text) == []

    @pytest.mark.parametrize(
        ("given_input", "expected"), [p for p in variants("sanitising") if p.values[0]["kind"] == "markdown"]
    )
    def test_no_image_is_loaded(self, given_input, expected):
        found = html(given_input["markdown"])

        assert "<img" not in found
        assert expected.get("text_contains", "") in found


def test_plain_html_is_escaped_clean_text():
    assert html("a\u202eb <i>") == f"<p>{escape(clean_text('ab <i>'))}</p>\n"


_PIECES = """# > " * ** _ ` ``` [ ]( ) ! < & &#7; &quot; ~~ | |-| - === a 1. \\ <b> \u00e9 \u00a0 --- http://a.b <http://a.b>"""
MARKUP = st.lists(
    st.sampled_from(
        [
            *_PIECES.split(" "),
            " ",
            "  ",
            "    ",
            "\t",
            "\n",
            "\n\n",
            "- ",
            "> ",
            "| a | b |\n|---|:-:|\n| c | d |\n",
        ]
    ),
    max_size=24,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(MARKUP, st.booleans())
def test_what_goes_past_the_sanitiser_is_what_it_would_give(text, inline):
    text = clean_text(text)
    tools = markdown._TOOLS
    tokens = tools.parser.parseInline(text, {}) if inline else tools.parser.parse(text, {})
    html = tools.parser.renderer.render(tokens, tools.parser.options, {})

    if markdown._is_harmless(html):
        assert tools.cleaner.clean(html) == html


@pytest.mark.parametrize(
    "html",
    [
        "<p>a", "a</p>", "<p><em>a</p></em>", "</p><p>", "<script>a</script>", "<P>a</P>", "<p >a</p>", "<p/>",
        "<br/>", "<", "<p onclick=a>b</p>", "<a>b</a>", "a & b", "&#60;", "&lt", "&copy;", "a > b", "<!-- a -->",
        "a\x00", "<br>\r", "\x85", "<img>", "<svg><p>a</p></svg>", "<style>a</style>", "<p>a</p\n>", "<\u212a>",
        "<ol start=3></ol>", "<h7>a</h7>",
    ],
)  # fmt: skip
def test_only_bare_elements_go_past_the_sanitiser(html):
    assert not markdown._is_harmless(html)


@pytest.mark.parametrize(
    "html",
    [
        "",
        "a",
        "a &amp; &lt;b&gt; &quot;c&quot;",
        "<p>a<br>b</p>\n<hr>\n",
        "<ul>\n<li><p>a</p>\n</li>\n</ul>\n",
    ],
)
def test_bare_elements_do(html):
    assert markdown._is_harmless(html)


def test_a_text_full_of_escapes_is_plain_where_it_has_to_be_sanitised():
    assert markdown.render('"' * 7_000).html.startswith("<p>&quot;")
    assert markdown.render("[a](http://a.b) " + '"' * 7_000).cut
    assert not markdown.render("[a](http://a.b) " + '"' * 1_000).cut
