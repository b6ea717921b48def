"""Settings for the tests of the A2UI core."""

from hypothesis import settings

# A busy machine must not turn a slow example into a failure; the tests that are about time measure it themselves.
settings.register_profile("a2ui", deadline=None)
settings.load_profile("a2ui")
