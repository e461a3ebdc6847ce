"""Writing an issue or a comment: what is sent, what a person sees of it, and sending it once."""
