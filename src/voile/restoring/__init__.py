"""Reading releases as a whole: what a sentence most likely was, given a public prior and the law."""
