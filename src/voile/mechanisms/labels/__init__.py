"""Mechanisms for labels and for records with one; `labels protect` names some of them."""
