"""The local settings, with the helpdesk of docs/example answering."""

from __future__ import annotations

import sys

from beachsite.settings.local import *  # noqa: F403 - settings are layered this way
from beachsite.suite import ROOT

sys.path.insert(0, str(ROOT / "docs" / "example"))

INSTALLED_APPS = [*INSTALLED_APPS, "helpdesk"]  # noqa: F405
BEACH_DEFAULT_ACTOR = "ines"
BEACH_STYLES = ["helpdesk/helpdesk.css"]
HELPDESK_PACE = 0.2
# Tests of agents commit, and more than one thread reads what they wrote.
DATABASES["default"]["TEST"] = {"NAME": BEACH_DATA / "test.sqlite3"}  # noqa: F405
