"""What runs turns in a process: the runner, the model's reply as it streams, tools, start and end of it all."""
