"""From rows of the log to what a transport sends."""
