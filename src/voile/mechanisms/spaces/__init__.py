"""Mechanisms over any space, and what makes a better mechanism of another."""
