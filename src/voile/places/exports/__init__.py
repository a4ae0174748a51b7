"""Templates of exported mechanisms."""
