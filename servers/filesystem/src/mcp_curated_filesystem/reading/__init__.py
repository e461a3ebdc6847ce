"""What a file says: pages of text, media, facts."""
