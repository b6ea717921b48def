"""The agent of tests/browser/test_foreign.py: a list that people edit and that it changes when they ask."""
