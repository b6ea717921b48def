"""What models are told of A2UI is what the engine has, and what it takes."""
