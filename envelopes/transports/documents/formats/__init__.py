"""Documents and patch documents (seed 003) as pure functions: no Django, no I/O, no clock but the one that is given.

Two stages that differ on purpose: ``strict`` refuses, ``normalise`` repairs or drops and says what. Patches are applied
by the engine's own RFC 6902 code.
"""
