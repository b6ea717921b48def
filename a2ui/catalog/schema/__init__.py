"""Exact shapes of what a message may hold: what the official JSON schemas accept, and nothing else (strict mode)."""
