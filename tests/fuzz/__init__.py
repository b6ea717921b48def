"""Hostile input, made by machines: nothing may raise what is not a typed error, and nothing may take long."""
