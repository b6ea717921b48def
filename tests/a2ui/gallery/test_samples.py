"""The samples: each runs, and nothing is wrong with any but those that show what is wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from a2ui.gallery import samples
from a2ui.gallery.replay import Replay
from a2ui.gallery.request import requested
from tests.shared import SHARED, needs_shared

FAULTY = {
    "08-hostile-texts": {"VALIDATION_FAILED"},
    "09-long-list": {"budget_exceeded"},
    "10-faults": {
        "VALIDATION_FAILED",
        "UNKNOWN_COMPONENT_TYPE",
        "EXPRESSION_ERROR",
        "STATE_ERROR",
        "DATA_ERROR",
        "CATALOG_NOT_FOUND",
    },
}


def play(sample, **switches):
    wish = replace(requested(dict(sample.switches) | switches), program=sample.program)
    return Replay(wish, wish.messages()).overview()


def codes(played):
    return {fault.code for step in played.steps for fault in step.faults}


@pytest.mark.parametrize("sample", samples.ours(), ids=lambda sample: sample.name)
def test_ours(sample):
    played = play(sample)

    assert sample.title and sample.about
    assert codes(played) == FAULTY.get(sample.name, set())
    assert played.seen.surfaces and all(html for _, _, html in played.seen.surfaces)
    assert played.stopped == 0


@pytest.mark.parametrize("name", [s.name for s in samples.ours() if s.name not in FAULTY])
def test_ours_are_what_the_official_schemas_accept(name):
    assert codes(play(samples.find(name), strict="1")) == set()


def test_a_dozen_at_least_and_no_name_twice():
    names = [sample.name for sample in samples.ours()]

    assert len(names) >= 12
    assert len(set(names)) == len(names)


def test_a_name_is_looked_up_and_is_no_path(settings):
    settings.BEACH_SHARED = "/"

    assert samples.find("../samples/01-product-card") is None
    assert samples.find("/etc/passwd") is None


def test_without_the_official_ones_there_are_ours(settings, tmp_path):
    for folder in ("", str(tmp_path), str(tmp_path / "not there")):
        settings.BEACH_SHARED = folder
        assert [group.title for group in samples.groups()] == ["Samples"]


def test_a_file_that_is_no_program_is_left_out(settings, tmp_path):
    folder = tmp_path / samples.OFFICIAL.format(version="v0_9", catalog="basic")
    folder.mkdir(parents=True)
    (folder / "broken.json").write_text("{")
    (folder / "latin.json").write_bytes(b'"\xe9"')
    (folder / "good.json").write_text('{"name": "Good", "messages": []}')
    settings.BEACH_SHARED = str(tmp_path)

    assert [sample.title for sample in samples.groups()[1].samples] == ["Good"]


LOSSES = {
    "0.9.1": {"10-faults", "11-every-component", "15-candidate", "16-only-in-1-0"},
    "1.0": {"13-previous-version", "10-faults"},
}
"""Samples that have something which the other version cannot say."""


@pytest.mark.parametrize("target", ["1.0", "0.9.1"])
@pytest.mark.parametrize("sample", samples.ours(), ids=lambda sample: sample.name)
def test_each_can_be_shown_in_the_other_version(sample, target):
    played = play(sample, version=target)
    done = requested({"program": sample.program, "version": target}).converted()

    assert {version for _, version, _ in played.seen.surfaces} == {"v0.9.1" if target == "0.9.1" else "1.0"}
    assert all(html for _, _, html in played.seen.surfaces)
    # What is lost leaves its place empty, which may be a fault there.
    assert sample.name in LOSSES[target] or codes(played) <= FAULTY.get(sample.name, set())
    assert done.lossless != (sample.name in LOSSES[target])


@needs_shared
def test_official_examples_of_every_edition_are_listed(settings):
    settings.BEACH_SHARED = str(SHARED)

    listed = {group.title: len(group.samples) for group in samples.groups()}

    assert listed["Examples of 1.0 basic"] == listed["Official candidate of 1.0 basic"] >= 20
    assert {"Official v0.9.1 basic", "Official v0.9.1 minimal", "Official v0.9 basic"} <= listed.keys()


@needs_shared
@pytest.mark.parametrize("target", ["1.0", "0.9.1"])
def test_the_official_examples_run_in_another_version_without_a_fault(settings, target):
    settings.BEACH_SHARED = str(SHARED)

    for group in samples.groups()[1:]:
        for sample in group.samples:
            assert (sample.name, codes(play(sample, version=target))) == (sample.name, set())


@needs_shared
def test_the_official_examples_run_without_a_fault(settings):
    settings.BEACH_SHARED = str(SHARED)
    official = [sample for group in samples.groups()[1:] for sample in group.samples]

    assert len(official) >= 25
    for sample in official:
        assert (sample.name, codes(play(sample))) == (sample.name, set())


def test_the_pictures_of_ours_are_static_files_of_ours_wherever_those_are(settings: Any) -> None:
    found = {name for sample in samples.ours() for name in re.findall(r'"/static/([^"]+)"', sample.program)}
    assert found
    assert {name for name in found if finders.find(name) is None or not name.startswith("beach/")} == set()

    settings.STATIC_URL = "https://static.example/"
    samples.ours.cache_clear()
    try:
        assert not any('"/static/' in sample.program for sample in samples.ours())
    finally:
        samples.ours.cache_clear()
