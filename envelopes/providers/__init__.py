"""What a model is: the port, Claude through the anthropic SDK, and the scripted model."""
