"""Measurements. Nothing here asserts; wall time is no test."""
