"""What is personal in a text: its kinds, and how each is found."""
