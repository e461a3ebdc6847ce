"""The state as GitHub's JSON, in full: every field that a client must know to leave out is there."""
