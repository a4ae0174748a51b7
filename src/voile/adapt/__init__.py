"""Turning the knobs of a mechanism against what an attacker found: pure init and step."""
