"""What people do with a surface: edits of inputs, clicks on buttons."""
