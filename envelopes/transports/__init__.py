"""Doors: how people and peers reach a session."""
