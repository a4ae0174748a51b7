"""The figures, tables and theorems of the five papers, run again: one experiment a function."""
