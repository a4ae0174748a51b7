"""Attackers: fitted on what they are given, they return beliefs about secrets."""
