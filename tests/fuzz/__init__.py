"""Files of every kind, made by chance and by malice, and what an accepted one must give."""
