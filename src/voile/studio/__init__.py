"""The studio: a local page on which a release is looked at, chosen, and taken away."""
