"""Looking through folders: walks, names, contents, listings, trees."""
