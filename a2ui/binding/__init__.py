"""Dynamic values: parsed once from JSON, compiled to closures that know what they read, or evaluated once; and the
budget of what a drawing may evaluate."""
