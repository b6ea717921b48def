"""Dynamic values: parsed once, compiled to closures that know what they read."""
