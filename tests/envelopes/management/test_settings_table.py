"""docs/settings.md has every setting, as the code has it."""

from __future__ import annotations

from pathlib import Path

from django.apps import apps

import envelopes
from envelopes.management.settings_table import markdown, rows

GUIDE = (Path(envelopes.__file__).parent.parent / "docs" / "settings.md").read_text(encoding="utf-8")


def test_the_table_in_the_documents_is_what_the_command_prints() -> None:
    assert "\n".join(markdown()) in GUIDE


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, _, told in rows() if not told] == []


def test_the_settings_of_the_gallery_are_told_beside_it() -> None:
    for name in apps.get_app_config("a2ui").beach_settings:
        assert f"`{name}`" in GUIDE
