"""The ideas everything else is built from: space, metric, guarantee, channel, certificate."""
