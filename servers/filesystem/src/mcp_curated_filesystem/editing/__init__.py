"""Finding the places of an edit in a text, and replacing them byte by byte."""
