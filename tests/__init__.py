"""The tests mirror the packages; `browser/` drives a real Chromium, `beachsite/` covers the project's shell."""
