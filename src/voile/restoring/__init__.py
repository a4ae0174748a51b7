"""Reading releases as a whole: what a text most likely was, given a public prior."""
