from voile.audit.certificates import certificate as certificate
from voile.audit.distinguishing import distinguish as distinguish
from voile.audit.finding import Finding as Finding
from voile.audit.finding import Verdict as Verdict
from voile.audit.ratios import nearest_pairs as nearest_pairs
from voile.audit.ratios import ratio as ratio
from voile.audit.samplers import sampler as sampler
