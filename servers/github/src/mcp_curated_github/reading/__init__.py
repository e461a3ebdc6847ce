"""Reading: from an answer of GitHub to a short, bounded result."""
