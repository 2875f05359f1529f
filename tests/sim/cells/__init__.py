"""The cell models, each on its own against a description in Python of what the vendor's documents say."""
