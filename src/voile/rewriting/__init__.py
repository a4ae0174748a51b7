"""Neural text rewriters (extra `neural`), each with a guarantee that says what it covers."""
