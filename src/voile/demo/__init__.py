"""The demo: use cases on made-up data, one after the other."""
