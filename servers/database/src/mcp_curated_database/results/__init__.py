"""What leaves: rows as compact JSON, schemas as text a model reads cheaply."""
