"""Attackers: what somebody who reads the releases concludes."""
