"""What takes minutes or hours to run, and is not part of the suite."""
