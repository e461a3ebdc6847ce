"""Changing the disk without losing a byte: replacing, moving, copying, deleting."""
