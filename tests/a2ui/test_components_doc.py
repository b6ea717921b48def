"""Every component of the basic catalog has all that docs/components.md says it needs."""

from __future__ import annotations

import json
import re

import pytest

from a2ui import Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.kinds import ENUM_VALUES
from a2ui.catalog.strict import SHAPES
from a2ui.gallery import samples
from a2ui.programs.tree import run as run_program
from beachsite.suite import ROOT
from envelopes.client.bundling import SHEETS
from tests.a2ui.programs import run

COMPONENTS = BASIC_CATALOG.components
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def program():
    return json.loads(samples.find("11-every-component").program)


@pytest.fixture(scope="module")
def html(program):
    (surface,) = run(*program)
    return surface.html()


def documented():
    text = (DOCS / "components.md").read_text(encoding="utf-8").split("## What is there")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    return {row[0].strip("`"): row[1:] for row in rows[2:]}


def test_the_table_is_the_catalog():
    table = documented()

    assert list(table) == list(COMPONENTS)
    for name, (module, drawn, reads_as) in table.items():
        kind = COMPONENTS[name]
        assert type(kind).__module__ == f"a2ui.catalog.basic.{module.strip('`')}"
        assert (drawn == "yes") is kind.draws
        assert reads_as.split(", ")[0].strip("`") == kind.input_kind


def test_each_is_in_the_sample_with_all_that_it_requires(program):
    rows = [row for message in program for row in message.get("updateComponents", {}).get("components", ())]
    used = {row["component"]: set() for row in rows}
    for row in rows:
        used[row["component"]] |= row.keys()

    assert used.keys() == COMPONENTS.keys()
    assert [name for name, kind in COMPONENTS.items() if not kind.required <= used[name]] == []


def test_each_kind_of_property_has_a_shape():
    assert {
        f"{name}.{key}"
        for name, kind in COMPONENTS.items()
        for key, how in kind.kinds.items()
        if how not in SHAPES and how not in ENUM_VALUES
    } == set()


def test_each_class_has_a_rule(html):
    sheet = "".join(
        (ROOT / "static" / "styles" / f"{name}.css").read_text() for name in SHEETS["beach/chat.css"]
    )
    used = {name for names in re.findall(r'class="([^"]*)"', html) for name in names.split()}

    assert len(used) > 50
    assert used - set(re.findall(r"\.([A-Za-z_][\w-]*)", sheet)) == set()


def test_each_input_reads_as_something_that_the_page_knows(html):
    page = (DOCS / "architecture.md").read_text(encoding="utf-8").split('`data-in="', 1)[1].split('"', 1)[0]
    kinds = {name for cells in documented().values() for name in re.findall(r"`([a-z]+)`", cells[2])}

    assert set(page.split("|")) == kinds == set(re.findall(r'data-in="([a-z]+)"', html))
    assert {kind.input_kind for kind in COMPONENTS.values()} - {""} <= kinds


def test_a_tree_of_each_is_json(program):
    told = run_program(Engine(EngineOptions()).surfaces(), program)
    nodes = told["surfaces"]["all"]["nodes"]

    assert json.loads(json.dumps(nodes)) == nodes
    assert {node["type"] for node in nodes} == COMPONENTS.keys()
