/* The first output whose running sum exceeds the target, of 62 bits. */
static int voile_choice(const int64_t *weights, const int64_t *nodes, const uint64_t *words) {
    const int64_t target = (int64_t)(words[0] >> 2);
    int first = 0, last = VOILE_OUTPUTS - 1;
    while (first < last) {
        const int middle = (first + last) / 2;
        __int128 sum = 0;
        for (int k = 0; k < VOILE_STENCIL * VOILE_STENCIL; k++)
            sum += (__int128)weights[k] * voile_sums[nodes[k]][middle];
        if ((int64_t)(sum >> 52) > target) last = middle; else first = middle + 1;
    }
    return first;
}
