"""Places: road networks, projections, priors, and what a blurred place costs on the streets."""
