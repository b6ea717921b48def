"""The example of docs/example.md as an application of a site."""
