"""The mechanisms of `voile labels protect`, by their short names in the literature."""

from __future__ import annotations

from voile.names import Family, Named

_HOME = "voile.mechanisms"

MECHANISMS = Family(
    "mechanism",
    (
        Named("rr", home=f"{_HOME}:randomised_response", former=("randomised-response",)),
        Named("prior", home=f"{_HOME}:rr_with_prior", former=("rr-with-prior",)),
        Named("cf", home=f"{_HOME}:label_cf", former=("label-cf",)),
        Named(
            "ldp",
            "Release every column of a record by itself, under local privacy of the whole record.",
            home=f"{_HOME}:columnwise",
            former=("columnwise",),
        ),
        Named(
            "sample",
            "Release one random column with the label, jointly, at the whole epsilon.",
            home=f"{_HOME}:sampled_column",
            former=("sampled-column",),
        ),
    ),
)
