"""From component definitions to HTML, and from data changes to the fragments that changed."""
