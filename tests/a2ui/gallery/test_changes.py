"""What is marked as new."""

from __future__ import annotations

from a2ui.gallery.changes import changes
from a2ui.gallery.layout import lines


def marked(before, after, width=20):
    found = changes(before, after)
    return [line.text for line in lines(after, width=width) if found.touches(line)]


def test_only_the_line_of_what_changed_is():
    assert marked({"name": "Ines", "town": "Corfu"}, {"name": "Ada", "town": "Corfu"}) == ['"Ada",']


def test_a_line_is_when_something_in_it_changed():
    assert marked({"a": {"x": 1}, "b": "same as before"}, {"a": {"x": 2}, "b": "same as before"}) == [
        '{"x": 2},'
    ]


def test_all_lines_of_something_new_are():
    assert marked({"a": 1}, {"a": 1, "b": ["first word", "second word"]}) == [
        "[",
        '"first word",',
        '"second word"',
        "]",
    ]


def test_one_is_not_true_and_null_is_not_absent():
    assert changes({"a": 1}, {"a": True}).there == {"/a"}
    assert changes({}, {"a": None}).there == {"/a"}


def test_what_is_gone_is_named_at_the_place_it_stood_at():
    assert changes({"a": {"x": 1, "y": 2}}, {"a": {"y": 2}}).gone == {"/a": ["x"]}
    assert changes([1, 2, 3], [1]).gone == {"": ["2 items"]}


def test_the_very_same_is_not_looked_into():
    class Untouchable(dict):
        def items(self):
            raise AssertionError

    same = Untouchable(a=1)
    assert changes({"same": same}, {"same": same, "new": 1}).there == {"/new"}
