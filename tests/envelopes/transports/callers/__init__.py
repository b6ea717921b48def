"""A door for programs, as an application would write it: they ask, and get the envelope when the turn is over."""
