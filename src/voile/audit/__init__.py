"""Audits: a question put to a mechanism or a release, answered by a `Finding`."""

from voile.audit.certificate import certificate
from voile.audit.distinguish import distinguish
from voile.audit.finding import Finding, Verdict
from voile.audit.ratio import nearest_pairs, ratio
from voile.audit.sampler import sampler

__all__ = ["Finding", "Verdict", "certificate", "distinguish", "nearest_pairs", "ratio", "sampler"]
