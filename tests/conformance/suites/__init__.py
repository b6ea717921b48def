"""The suites, each a module with `cases()`."""
