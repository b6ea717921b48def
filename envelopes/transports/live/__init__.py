"""The live channel: a conversation over one WebSocket, for programs and for front ends that are not ours (D68)."""
