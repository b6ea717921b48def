"""The part types that the protocol names: a module for each, which says all about it. ``envelopes.beach`` registers
them, as an application registers its own."""
