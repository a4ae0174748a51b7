"""Findings and comparisons as tables, charts and pages."""
