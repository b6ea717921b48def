"""1.0 and its candidates, read straight into the engine's form, by the steps of the reading of 1.0."""
