"""Plain HTTP for programs: begin a conversation, say something, and get the envelope of what was answered (D16)."""
