"""Turns: what runs them, what a model reads and writes in one."""
