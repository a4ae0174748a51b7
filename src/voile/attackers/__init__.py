"""Attackers: what somebody believes after reading the releases."""
