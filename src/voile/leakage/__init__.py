"""What an attacker learns: pure functions of prior, log-probabilities and distances."""
