"""Raw data and secrets: text, places and labels."""
