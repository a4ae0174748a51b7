"""Raw data in, secrets out, and back: one folder for each kind of data."""
