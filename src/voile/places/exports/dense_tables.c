/* For each coefficient the running sums over the outputs, out of 2**62. */
static const int64_t voile_sums[][VOILE_OUTPUTS] = {@SUMS@};
