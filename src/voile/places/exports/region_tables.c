/* Where each node's entries begin; their outputs; their running sums out of 2**62, what is left of
 * which is the floor's: all outputs, by running sums out of 2**32. */
static const int64_t voile_rows[] = {@ROWS@};
static const int32_t voile_listed[] = {@LISTED@};
static const int64_t voile_sums[] = {@SUMS@};
static const int64_t voile_floor[] = {@FLOOR@};
