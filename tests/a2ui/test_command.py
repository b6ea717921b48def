"""`manage.py a2ui`: what the engine makes of programs, on the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from a2ui.errors import A2uiError
from a2ui.programs.reading import parse_json, read_cases, read_program
from a2ui.protocol.dialects import KNOWN
from tests.a2ui.page import parse
from tests.a2ui.programs import call, components, create, data, path, row
from tests.shared import ROOT, SHARED, json_file, needs_shared

GOOD = [create(), components(row("root", "Text", text=path("/n"))), data(5, "/n")]
EDITED = [
    *GOOD,
    {"@write": {"surfaceId": "s", "path": "/n", "value": "typed"}},
    {"@eval": {"surfaceId": "s", "value": path("/n")}},
]


@pytest.fixture
def file(tmp_path):
    """Writes a value as JSON, or a text as it is, to a file."""

    def write(value, name="program.json"):
        target = tmp_path / name
        target.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return str(target)

    return write


def run(*arguments):
    """(what was printed, exit code)."""
    out = io.StringIO()
    try:
        call_command("a2ui", *arguments, stdout=out)
    except SystemExit as stopped:
        return out.getvalue(), int(stopped.code)
    return out.getvalue(), 0


class TestReading:
    @pytest.mark.parametrize(
        "text",
        [
            json.dumps(GOOD),
            json.dumps({"name": "x", "messages": GOOD}),
            json.dumps({"program": GOOD, "result": {}}),
            "\n".join(json.dumps(message) for message in GOOD),
            "\n\n".join(json.dumps(message) for message in GOOD) + "\n",
            json.dumps(GOOD[:2]) + "\n" + json.dumps({"messages": GOOD[2:]}),
            json.dumps(GOOD, indent=2),
        ],
    )
    def test_forms(self, text):
        assert read_program(text) == GOOD

    def test_one_message_is_a_program(self):
        assert read_program(json.dumps(GOOD[0])) == GOOD[:1]

    @pytest.mark.parametrize(
        "text", ["", "{", "nonsense\n{}", "[NaN]", "[1e999]", "[-Infinity]", "[" * 100_000, "1" * 5000]
    )
    def test_what_is_no_json(self, text):
        with pytest.raises(A2uiError) as caught:
            read_program(text)

        assert caught.value.code == "INVALID_JSON"

    def test_the_broken_line_is_named(self):
        with pytest.raises(A2uiError, match=r"Line 3: ") as caught:
            read_program('{"a": 1}\n\n{"b": }\n')

        assert caught.value.facts["line"] == 3

    def test_cases_are_an_object(self):
        assert read_cases(json.dumps({"a": GOOD, "b": {"messages": GOOD}})) == {"a": GOOD, "b": GOOD}
        with pytest.raises(A2uiError):
            read_cases("[]")

    def test_numbers_stay_exact(self):
        assert parse_json("[12345678901234567890123, 0.1]") == [12345678901234567890123, 0.1]


class TestTree:
    def test_a_program(self, file):
        out, code = run("tree", file(EDITED))

        result = json.loads(out)
        assert code == 0
        assert result["errors"] == []
        assert result["evals"] == ["typed"]
        assert result["surfaces"]["s"]["nodes"][0]["props"] == {"text": "typed"}

    def test_cases(self, file):
        out, _ = run(
            "tree",
            "--cases",
            file(
                {
                    "good": GOOD,
                    "bad": [5, {"@eval": {}}, {"@write": {"surfaceId": "none", "path": "/x"}}, "x"],
                }
            ),
        )

        results = json.loads(out)
        assert results["good"]["surfaces"]["s"]["nodes"][0]["props"]["text"] == 5
        assert results["bad"] == {
            "errors": [0, 3],
            "evals": [None],
            "surfaces": {},
            "clientDataModel": None,
        }

    def test_locale_and_zone(self, file):
        when = call("formatDate", value="2026-09-04T22:30:00Z", format="EEEE HH:mm")
        program = file([create(), components(row("root", "Text", text=when))])

        out, _ = run("tree", program, "--locale", "pl-PL", "--timezone", "Europe/Warsaw")

        assert json.loads(out)["surfaces"]["s"]["nodes"][0]["props"]["text"] == "sobota 00:30"

    def test_shared_children_that_multiply_end(self, file):
        rows = [row(f"c{n}", "Column", children=[f"c{n + 1}"] * 2) for n in range(30)]
        rows[0]["id"] = "root"
        rows.append(row("c30", "Divider"))

        out, _ = run("tree", file([create(), components(*rows)]))

        assert len(json.loads(out)["surfaces"]["s"]["nodes"]) == 100_000

    def test_lone_surrogates_come_out_as_escapes(self, file):
        out, _ = run(
            "tree",
            file('[{"version": "v0.9", "createSurface": {"surfaceId": "\\ud83d", "catalogId": "basic"}}]'),
        )

        assert "\\ud83d" in out
        out.encode("utf-8")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["no-such-file"], "No such file"),
            (["--timezone", "Mars/Base"], "time zone"),
            (["--timezone", "../../etc/passwd"], "time zone"),
            ([], "not JSON"),
        ],
    )
    def test_what_cannot_be_done_is_said(self, file, arguments, said):
        given = (
            arguments
            if arguments[:1] == ["no-such-file"]
            else [file("{" if not arguments else "[]"), *arguments]
        )

        with pytest.raises(CommandError, match=said):
            run("tree", *given)

    def test_what_is_no_utf8(self, tmp_path):
        (tmp_path / "latin").write_bytes(b"\xff\xfe{")

        with pytest.raises(CommandError, match="UTF-8"):
            run("tree", str(tmp_path / "latin"))


class TestHtml:
    def test_a_program(self, file):
        out, _ = run("html", file(EDITED))

        (element,) = parse(out.strip())
        assert "".join(element.itertext()) == "typed"

    def test_cases(self, file):
        out, _ = run("html", "--cases", file({"one": GOOD, "none": []}))

        results = json.loads(out)
        assert results["none"] == {}
        assert list(results["one"]) == ["s"]
        assert results["one"]["s"].startswith('<div id="a1"')


class TestCheck:
    def test_a_good_program(self, file):
        assert run("check", file(EDITED)) == ("Nothing is wrong.\n", 0)

    @pytest.mark.parametrize(
        ("program", "said"),
        [
            ([{"version": "v7"}], "message 0: error: VALIDATION_FAILED /version"),
            ([create(), components(row("root", "Text", text="x", colour="red"))], "/components/0/colour"),
            (
                [create(), components(row("root", "Text", text=5))],
                "/components/0/text: `text` must be text; got 5.",
            ),
            ([create(), components(row("root", "Text", text=call("nope")))], "/components/0/text/call"),
            (
                [create(), components(row("root", "Text", text=call("formatString", value="${")))],
                "message 1: error: EXPRESSION_ERROR",
            ),
            ([create(), components(row("root", "Wheel"))], "UNKNOWN_COMPONENT_TYPE"),
            ([create(), data(1, "/a"), data(1, "/a/b")], "message 2: error: DATA_ERROR"),
            ([create(), {"@write": {"surfaceId": "s", "path": "/~2", "value": 1}}], "message 1"),
        ],
    )
    def test_errors_are_named_with_their_place(self, file, program, said):
        out, code = run("check", file(program))

        assert code == 1
        assert said in out

    def test_one_fault_is_said_once(self, file):
        out, _ = run(
            "check", "--json", file([create(), components(row("root", "Text", text="x", colour="red"))])
        )

        assert [(one["path"], one["severity"], one["refused"]) for one in json.loads(out)] == [
            ("/components/0/colour", "error", False)
        ]

    def test_loose_ends_are_warnings_unless_strict(self, file):
        program = file([create(), components(row("root", "Card", child="none"), row("x", "Divider"))])

        out, code = run("check", program)
        assert code == 0
        assert "warning" in out and "Dangling" in out and "Orphaned" in out
        assert run("check", "--strict", program)[1] == 1

    def test_cases(self, file):
        out, code = run("check", "--cases", file({"good": GOOD, "bad": [5]}))

        results = json.loads(out)
        assert code == 1
        assert results["good"] == []
        assert results["bad"][0]["code"] == "VALIDATION_FAILED"

    def test_what_is_no_json_is_an_error(self, file):
        out, code = run("check", file("{"))

        assert code == 1
        assert json.loads(out)["error"]["code"] == "INVALID_JSON"


class TestStrictReading:
    @pytest.mark.parametrize(
        ("document", "patch"),
        [
            ('{"a": 1}', '[{"op": "test", "op": "remove", "path": "/a"}]'),
            ('{"a": 1}', '[{"op": "remove", "path": "/b", "path": "/a"}]'),
            ('{"a": 1, "a": 2}', "[]"),
            ('{"a": [{"b": 1, "\\u0062": 2}]}', "[]"),
        ],
    )
    def test_e11_patch_refuses_keys_that_stand_twice(self, document, patch, file):
        out, exit_code = run("patch", file(document, "doc"), file(patch, "patch"))

        assert exit_code == 1
        error = json.loads(out)["error"]
        assert error["code"] == "INVALID_JSON"
        assert "stands twice in one object" in error["message"]

    @pytest.mark.parametrize(
        "text",
        [
            '[{"version": "v0.9", "version": "v0.9"}]',
            '{"messages": [], "messages": []}',
            '{"deleteSurface": {"surfaceId": "a", "surfaceId": "b"}, "version": "v0.9"}\n[]',
        ],
    )
    def test_e11_so_do_programs(self, text):
        with pytest.raises(A2uiError, match="stands twice"):
            read_program(text)

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ({"value": path("/n"), "scope": "/nowhere"}, 5),
            ({"value": path("."), "scope": "/nowhere"}, None),
            ({"value": path("x"), "scope": "/n/deeper"}, None),
            ({"value": path(""), "scope": "/list/7"}, None),
            ({"value": [path("."), 1], "scope": "/nowhere"}, [None, 1]),
            ({"value": call("formatString", value="a${.}b"), "scope": "/nowhere"}, "ab"),
            ({"value": path("/nowhere")}, None),
            ({}, None),
        ],
    )
    def test_e11_an_absent_eval_is_null(self, question, answer, file):
        out, exit_code = run("tree", file([*GOOD, {"@eval": {"surfaceId": "s", **question}}]))

        assert exit_code == 0
        assert json.loads(out)["evals"] == [answer]
        assert json.loads(out)["errors"] == []


class TestPatch:
    def test_the_new_document(self, file):
        out, code = run(
            "patch", file({"a": 1}, "doc"), file([{"op": "add", "path": "/b", "value": "é"}], "patch")
        )

        assert code == 0
        assert json.loads(out) == {"a": 1, "b": "é"}

    @pytest.mark.parametrize(
        ("patch", "code"),
        [
            ([{"op": "remove", "path": "/x"}], "conflict"),
            ([{"op": "test", "path": "/a", "value": 2}], "test_failed"),
            ([{"op": "leap", "path": "/a"}], "invalid_patch"),
            ({"op": "add"}, "invalid_patch"),
            ("[", "INVALID_JSON"),
        ],
    )
    def test_errors(self, file, patch, code):
        out, exit_code = run("patch", file({"a": 1}, "doc"), file(patch, "patch"))

        assert exit_code == 1
        assert json.loads(out)["error"]["code"] == code


@needs_shared
@pytest.mark.shared
def test_official_examples_have_no_errors(file):
    assert SHARED is not None
    folder = SHARED / "spec/a2ui/specification"
    examples = {str(one): json_file(str(one)) for one in folder.glob("*/catalogs/*/examples/*.json")}

    out, code = run("check", "--cases", file(examples))

    assert code == 0
    assert len(json.loads(out)) == len(examples) > 40


class TestProcess:
    """The command as people run it: without database, from the standard input."""

    def manage(self, *arguments, given="", cwd: Path = ROOT):
        environ = {
            **os.environ,
            "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
            "BEACH_NO_BOOTSTRAP": "1",
        }
        environ.pop("DJANGO_SETTINGS_MODULE", None)
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "a2ui", *arguments],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=environ,
            cwd=cwd,
            check=False,
        )

    def test_standard_input(self, tmp_path):
        done = self.manage(
            "tree", "-", given="\n".join(json.dumps(message) for message in EDITED), cwd=tmp_path
        )

        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["evals"] == ["typed"]

    def test_the_exit_code_says_that_something_is_wrong(self, file):
        done = self.manage("check", file([5], "bad"))

        assert (done.returncode, done.stderr) == (1, "")
        assert "VALIDATION_FAILED" in done.stdout


class TestConvert:
    def test_a_program(self, file):
        out, code = run("convert", file(GOOD), "--to", "1.0")

        assert code == 0
        assert [message["version"] for message in json.loads(out)] == ["1.0"] * 3
        assert json.loads(out)[1]["updateComponents"]["components"][0]["text"] == {"@path": "/n"}

    def test_what_is_lost_goes_to_the_standard_error(self, file):
        errors = io.StringIO()
        program = file([create(theme={"primaryColor": "#ff0000"})])

        call_command("a2ui", "convert", program, "--to", "1.0", stdout=io.StringIO(), stderr=errors)

        assert errors.getvalue() == (
            "message 0: lost: /createSurface/theme: A surface of 1.0 has no theme: branding is the host's.\n"
        )
        assert run("convert", program, "--to", "1.0", "--strict")[1] == 1
        assert run("convert", file(GOOD), "--to", "1.0", "--strict")[1] == 0

    def test_as_json(self, file):
        out, _ = run(
            "convert", "--cases", file({"a": [create(theme={"x": 1})], "b": GOOD}), "--to", "1.0", "--json"
        )

        results = json.loads(out)
        assert [note["kind"] for note in results["a"]["notes"]] == ["lost"]
        assert results["b"]["notes"] == []
        assert len(results["b"]["messages"]) == 3

    def test_what_is_no_json(self, file):
        with pytest.raises(CommandError):
            run("convert", file("{"), "--to", "1.0")


def one_form(version: str) -> list[dict]:
    """A surface with a bound text, a template and a check, as each version writes it."""
    if version == "v0.8":
        kinds = {
            "root": {"Column": {"children": {"explicitList": ["said", "list"]}}},
            "said": {"Text": {"text": {"path": "/n"}}},
            "list": {"Column": {"children": {"template": {"componentId": "item", "dataBinding": "/items"}}}},
            "item": {"Text": {"text": {"path": "/t"}}},
        }
        rows_ = [{"id": name, "component": kind} for name, kind in kinds.items()]
        items = [{"key": key, "valueMap": [{"key": "t", "valueString": key}]} for key in ("a", "b")]
        contents = [{"key": "n", "valueString": "5"}, {"key": "items", "valueMap": items}]
        return [
            {"surfaceUpdate": {"surfaceId": "s", "components": rows_}},
            {"dataModelUpdate": {"surfaceId": "s", "contents": contents}},
            {"beginRendering": {"surfaceId": "s", "root": "root"}},
        ]
    at = "@" if version == "1.0" else ""
    edition = "v1_0" if "1.0" in version else "v0_9"
    body = {
        "surfaceId": "s",
        "catalogId": f"https://a2ui.org/specification/{edition}/catalogs/basic/catalog.json",
    }
    kinds = [
        row("root", "Column", children=["said", "list"]),
        row(
            "said", "Text", text={f"{at}path": "/n"}, **{f"{at}accessibility": {"label": {f"{at}path": "/n"}}}
        ),
        row("list", "Column", children={"componentId": "item", "path": "/items"}),
        row("item", "Text", text={f"{at}path": "t"}),
    ]
    return [
        {"version": version, "createSurface": body},
        {
            "version": version,
            "updateDataModel": {"surfaceId": "s", "value": {"n": "5", "items": [{"t": "a"}, {"t": "b"}]}},
        },
        {"version": version, "updateComponents": {"surfaceId": "s", "components": kinds}},
    ]


class TestVersions:
    @pytest.mark.parametrize("version", KNOWN)
    def test_every_version_has_a_tree_html_and_nothing_wrong(self, file, version):
        program = file(one_form(version))

        nodes = json.loads(run("tree", program)[0])["surfaces"]["s"]["nodes"]
        assert [node["props"]["text"] for node in nodes if node["type"] == "Text"] == ["5", "a", "b"]
        assert "".join(parse(run("html", program)[0])[0].itertext()) == "5ab"
        assert run("check", program) == ("Nothing is wrong.\n", 0)

    @pytest.mark.parametrize("version", KNOWN)
    @pytest.mark.parametrize("target", ["1.0", "0.9.1"])
    def test_every_version_is_converted_to_both(self, file, version, target):
        out, code = run("convert", file(one_form(version)), "--to", target, "--strict")

        assert code == 0
        assert {one["version"] for one in json.loads(out)} == {"1.0" if target == "1.0" else "v0.9.1"}
        assert run("html", file(out)) == run("html", file(one_form(version)))
