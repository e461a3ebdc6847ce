"""What `make bench` is made of: a corpus, servers spoken to byte for byte, floors, and one table."""
