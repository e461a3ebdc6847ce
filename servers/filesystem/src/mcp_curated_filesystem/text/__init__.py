"""Text as it is stored: encodings, line ends, blocks of bytes, version tags."""
