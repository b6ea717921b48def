"""A command a module: the suite, the demo, the server of a deployment."""
