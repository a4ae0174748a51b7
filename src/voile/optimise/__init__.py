"""Mechanisms that are solved for: least loss under a stated epsilon, repaired and certified."""
