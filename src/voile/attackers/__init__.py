"""Attackers: what can be learnt from releases, fitted on data that the audit split."""
