"""What the documents say is so: commands exist, defaults and versions are those of the code, links lead somewhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.core.management import get_commands

import envelopes
from beachsite.bootstrap import LEAST
from beachsite.suite import ROOT
from envelopes import ToolContext
from envelopes.protocol.parts import check_part
from envelopes.protocol.payloads import RetryPolicy
from envelopes.registries.actors import Actor
from envelopes.registries.outputs import fitted
from envelopes.registries.policies import Asking, AutoApprove, NoQuestion
from envelopes.registries.state_machines import StateMachineRegistry, state_machines
from envelopes.registries.turn_states import TurnStateRegistry, turn_states
from tests.desk import desk

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SETTINGS = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "beachsite" / "settings").glob("*.py")
)
# Of the application in docs/example.
OF_THE_EXAMPLE = {"helpdesk_demo"}
# Read by manage.py itself, before there are settings.
EARLY = {"BEACH_NO_BOOTSTRAP"}
# Django's and the shell's own words in code blocks and tables.
OPTION = re.compile(r'env\.\w+\(\s*"([A-Z_]+)"')


def documented() -> set[str]:
    table = README.split("## Configuration")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([A-Z_]+)`", table, re.MULTILINE))


def test_it_opens_with_the_two_commands() -> None:
    block = README.split("```")[1]

    assert re.findall(r"^python3 manage\.py (\w+)", block, re.MULTILINE) == ["demo", "test"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_exists(document: Path) -> None:
    named = set(re.findall(r"manage\.py ([a-z_0-9]+)", document.read_text(encoding="utf-8")))

    assert named <= {*get_commands(), *OF_THE_EXAMPLE}


def test_every_setting_is_in_the_table_and_the_table_has_no_other() -> None:
    assert documented() == set(OPTION.findall(SETTINGS)) - {"BEACH_TEST_DATABASE_URL"} | EARLY


@pytest.mark.parametrize(
    ("name", "default"),
    re.findall(r'env\.(?:text|number|seconds|choice)\("([A-Z_]+)", (?:\(.*?\), )?"?([\w-]+)"?[,)]', SETTINGS),
)
def test_a_default_in_the_table_is_the_one_in_the_code(name: str, default: str) -> None:
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}`"))
    told = row.split("|")[2].strip().strip("`")

    assert told in {default, "a year"}


def test_the_python_version_is_the_same_everywhere() -> None:
    least = ".".join(map(str, LEAST))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert project["project"]["requires-python"] == f">={least}"
    assert project["tool"]["mypy"]["python_version"] == least
    assert project["tool"]["ruff"]["target-version"] == f"py{least.replace('.', '')}"
    assert f"Python {least} or newer" in README


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8"))

    assert [link for link in links if not (document.parent / link).exists()] == []


def _copied(document: str, monkeypatch: pytest.MonkeyPatch) -> Actor:
    """The agent that the first Python of a document registers."""
    found: list[Actor] = []
    monkeypatch.setattr(envelopes, "register", found.append, raising=False)
    code = (ROOT / document).read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]

    exec(compile(code, document, "exec", dont_inherit=True), {"__name__": "shop.beach"})  # noqa: S102
    (actor,) = found
    return actor


async def test_the_agent_in_the_readme_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = _copied("README.md", monkeypatch)

    (tool,) = actor.tools
    args = tool.input(order="A1", euros=12.5)
    assert tool.approval is not None
    assert tool.approval.question(args) == "Refund 12.50 euros for order A1?"
    assert await tool.run(cast("ToolContext", None), args) == {"refunded": 12.5}


def test_beside_the_agent_the_readme_says_how_to_begin_one_and_how_programs_reach_it() -> None:
    section = README.split("## Your own agent")[1].split("\n## ")[0]

    for words in ("beach new-agent", "docs/agents.md", "beach peer add", "docs/peers.md"):
        assert words in section


def test_the_agent_in_the_documents_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = _copied("docs/agents.md", monkeypatch)

    (tool,) = actor.tools
    args = tool.input(order="A1", euros=12.5)
    assert tool.approval is not None
    assert tool.approval.question(args) == "Refund 12.50 euros for order A1?"
    assert tool.approval.done(args, {}) == "Refunded 12.50 euros"


@pytest.mark.django_db(transaction=True)
async def test_the_script_in_the_documents_runs_the_agent_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Actor] = []
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "agents.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "shop.beach"}
    monkeypatch.setattr(envelopes, "register", found.append, raising=False)
    for code in (blocks[0], next(block for block in blocks if "def script" in block)):
        exec(compile(code, "agents.md", "exec", dont_inherit=True), names)  # noqa: S102
    monkeypatch.undo()

    def scripted(script: Any) -> Any:
        return names["ScriptedProvider"](script, pace=0)

    async with desk(names["script"], *found[0].tools, provider=scripted) as d:
        await d.say("Hello")
        assert await d.texts("clarify") == ["Which order shall I refund?"]
        await d.say("Refund order A1")
        (approval,) = await d.approvals()
        assert (approval.tool_name, approval.args) == ("refund", {"order": "A1", "euros": 12.5})
        await d.decide("granted")
        await d.say("Another refund")
        await d.decide("denied")
        assert await d.texts() == ["The money is on its way.", "It was not paid."]
        assert [turn.turn_state for turn in await d.turns()] == ["clarifying", "complete", "complete"]


def _snippet(heading: str) -> dict[str, Any]:
    """The first Python under a heading of the guide, run; the names that it gives."""
    section = (
        (ROOT / "docs" / "agents.md")
        .read_text(encoding="utf-8")
        .split(f"## {heading}\n")[1]
        .split("\n## ")[0]
    )
    names: dict[str, Any] = {"__name__": "shop.beach"}
    code = section.split("```python\n")[1].split("```")[0]
    exec(compile(code, f"agents.md, {heading}", "exec", dont_inherit=True), names)  # noqa: S102
    return names


def test_the_turn_states_in_the_documents_can_be_copied_and_act_as_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = TurnStateRegistry("turn state")
    monkeypatch.setattr(turn_states, "register", registry.register)

    _snippet("A turn state of your own")

    keeps, refers = registry["acme.interviewing"], registry["acme.referred"]
    assert (keeps.terminal, keeps.holds_actor, keeps.delegates) == (True, True, False)
    assert (refers.terminal, refers.holds_actor, refers.delegates) == (True, False, True)


def test_the_policy_in_the_documents_answers_as_it_says() -> None:
    rule = _snippet("Who approves")["rule"]

    def answered(euros: float, user: object = "ada", **more: Any) -> Any:
        return rule(Asking(SimpleNamespace(euros=euros), "refund", "mo", "s", user=user, **more))

    assert isinstance(answered(0), NoQuestion)
    assert answered(10) == AutoApprove("small-refunds", "Refunds below 20 euros")
    assert answered(10, None) == answered(10, attempt=2) == answered(20)
    assert (answered(20).on_expiry, answered(20).reuse_within) == ("ask-again", 600)
    assert (answered(500).needed, answered(500).tokens) == (
        2,
        ("group:Accountants", "permission:shop.refund"),
    )


def test_the_tool_in_the_documents_returns_what_it_declares() -> None:
    names = _snippet("What a tool returns")
    tool = names["STOCK"]
    given = names["Shelf"](item="cup", pieces=7)

    assert fitted(tool.name, tool.output, given) == {"item": "cup", "pieces": 7}
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert tool.definition()["description"].splitlines()[1] in text


def test_the_retry_policy_in_the_documents_is_one() -> None:
    (part,) = _snippet("Trying again")["FAILED"].parts

    checked, _ = check_part(part, origin="actor")
    assert RetryPolicy.model_validate((checked.data or {})["retryPolicy"]).attempts == 2


def test_the_state_machine_in_the_documents_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = StateMachineRegistry("state machine")
    monkeypatch.setattr(state_machines, "register", registry.register)

    _snippet("A state machine of your own")

    (machine, coordinate) = registry.coordinate("cart.status") or pytest.fail("there is none")
    assert (coordinate.initial, machine.lets("actor"), machine.lets("peer")) == ("open", True, False)


def test_every_folder_in_the_layout_is_there() -> None:
    table = README.split("## Layout")[1].split("\n## ")[0]

    for folder in re.findall(r"`([a-z0-9]+/)`", table):
        inside = ROOT / "beachsite" / folder
        assert (ROOT / folder).is_dir() or inside.is_dir(), folder


PACKAGES = ("a2ui", "beachsite", "envelopes")
PARTS = {part.stem for package in PACKAGES[::2] for part in (ROOT / package).iterdir()}


@cache
def _defined(file: Path) -> frozenset[str]:
    """The names that a module gives to something, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def _is_there(parts: list[str]) -> bool:
    """Whether these lead to a folder, a module, or what one of those defines."""
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        module = place.with_suffix(".py")
        files = [module] if module.is_file() else list(place.rglob("*.py"))
        if files:
            return all(any(name in _defined(file) for file in files) for name in parts[length:])
    return False


def test_the_architecture_names_what_is_there() -> None:
    """Its drawings too. Names begin with a package, or with what stands in one."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {tuple(found.split(".")) for found in re.findall(r"[a-z_0-9]+(?:\.[A-Za-z_0-9]+)+", text)}
    ours = [list(parts) for parts in named if parts[-1] not in ("js", "md", "py")]

    known = [parts for parts in ours if parts[0] in PACKAGES]
    known += [parts for parts in ours if parts[0] in PARTS]
    missing = [
        ".".join(parts)
        for parts in known
        if not any(_is_there(way) for way in (parts, ["a2ui", *parts], ["envelopes", *parts]))
    ]

    assert len(known) > 40
    assert missing == []


def test_the_ci_script_is_sound_bash_and_runs_the_documented_command() -> None:
    script = ROOT / ".ci" / "run"
    answer = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)

    assert answer.stderr == ""
    assert "python3 manage.py test" in script.read_text(encoding="utf-8")
    assert script.stat().st_mode & 0o111


def test_nothing_in_the_project_names_a_machine_or_a_registry() -> None:
    """Assembled from pieces, so that this file passes its own test."""
    paths = ["/wo" + "rk/main", "/wo" + "rk/shared", "." + "library"]
    hosts = ["py" + "pi.org", "pythonho" + "sted", "np" + "mjs", "deb." + "debian"]
    command = ["git", "grep", "-lIF", *(part for word in paths + hosts for part in ("-e", word))]

    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert answer.returncode in {0, 1}, answer.stderr
    assert answer.stdout == ""


def test_the_command_line_says_how_to_pass_options_to_pytest() -> None:
    command = [sys.executable, "manage.py", "help", "test"]

    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert "pytest" in answer.stdout
