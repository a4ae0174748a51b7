/* The first position from `first` to `last` whose running sum exceeds the target, or `last`. */
static int64_t voile_search(const int64_t *sums, int64_t first, int64_t last, int64_t target) {
    while (first < last) {
        const int64_t middle = (first + last) / 2;
        if (sums[middle] > target) last = middle; else first = middle + 1;
    }
    return first;
}

/* A node by its weight, then an output of its row or of the floor: 52, 62 and 32 bits. */
static int voile_choice(const int64_t *weights, const int64_t *nodes, const uint64_t *words) {
    int64_t rest = (int64_t)(words[0] >> 12);
    int which = 0;
    while (rest >= weights[which]) rest -= weights[which++];
    const int64_t last = voile_rows[nodes[which] + 1];
    const int64_t found = voile_search(voile_sums, voile_rows[nodes[which]], last,
                                       (int64_t)(words[1] >> 2));
    if (found < last) return (int)voile_listed[found];
    return (int)voile_search(voile_floor, 0, VOILE_OUTPUTS, (int64_t)(words[2] >> 32));
}
