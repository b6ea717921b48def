"""Where the report hook leaves word, for fixtures that tidy up differently after a failure."""

import pytest

FAILED = pytest.StashKey[bool]()
