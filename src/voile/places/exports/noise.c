/* Laplace noise for places, made by voile @VERSION@; do not edit.
 *
 * @PROMISE@
 *
 *   double lat = 45.0, lon = 5.0;
 *   if (voile_release(&lat, &lon, voile_random, 0) == 0) report(lat, lon);
 *
 * One release is one draw: draw once for a place, keep what was drawn, and count ε for each.
 * The random words must come from a cryptographic generator; `voile_random` asks the system's.
 * C99. Nothing is allocated, nothing is kept between calls. Compile without -ffast-math.
 *
 * The noise is exact: doubles settle a trial only where they cannot be wrong, otherwise (once in
 * 2**40 trials) integers as long as it takes do, up to 4,096 bits; beyond that, less than once in
 * 2**500 draws, nothing is reported.
 */
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

#define VOILE_AXES @AXES@
#define VOILE_SCALES @SCALES@
#define VOILE_TABLE 80
static const double voile_step = @STEP@;  /* of the lattice, km */
@MAP@
/* The scales of the noise in eights of steps, and the running sums of their weights of 2**62; the
 * rest is the chain past them: 5, 6, 7, 8, 10 … quarters of the last, each half as likely. */
static const uint64_t voile_eighths[VOILE_SCALES] = {@EIGHTHS@};
static const uint64_t voile_sums[VOILE_SCALES] = {@SUMS@};
/* Of a Gaussian: weights ⌈B·e^(−k²/128)⌉ of eighths of σ, and their running sums with the rest. */
static const uint64_t voile_height = @HEIGHT@ull;
static const uint64_t voile_weights[VOILE_TABLE] = {@WEIGHTS@};
static const uint64_t voile_below[VOILE_TABLE + 1] = {@BELOW@};

@GROUND@
@SOURCE@
typedef struct { voile_source source; void *state; int failed; } voile_bits;

static uint64_t voile_word(voile_bits *bits) {
    uint64_t word = 0;
    if (!bits->failed && bits->source(bits->state, &word, sizeof word)) bits->failed = 1;
    return word;
}

/* ── integers of up to 4,096 bits, low limb first ── */

#define VOILE_LIMBS 128
typedef struct { uint32_t limb[VOILE_LIMBS]; int size; } voile_big;

static void voile_trim(voile_big *a) { while (a->size && !a->limb[a->size - 1]) a->size--; }

static voile_big voile_of(uint64_t value) {
    voile_big a = {{(uint32_t)value, (uint32_t)(value >> 32)}, 2};
    voile_trim(&a);
    return a;
}

static voile_big voile_times(const voile_big *a, const voile_big *b, int *failed) {
    voile_big c = {{0}, a->size + b->size};
    if (c.size > VOILE_LIMBS) { *failed = 1; return voile_of(0); }
    for (int i = 0; i < a->size; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->size || carry; j++) {
            carry += c.limb[i + j] + (uint64_t)a->limb[i] * (j < b->size ? b->limb[j] : 0);
            c.limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    voile_trim(&c);
    return c;
}

static voile_big voile_up(const voile_big *a, int bits, int *failed) {
    voile_big c = {{0}, a->size + bits / 32 + 1};
    if (c.size > VOILE_LIMBS) { *failed = 1; return voile_of(0); }
    for (int i = 0; i < a->size; i++) {
        const uint64_t wide = (uint64_t)a->limb[i] << (bits % 32);
        c.limb[i + bits / 32] |= (uint32_t)wide;
        c.limb[i + bits / 32 + 1] = (uint32_t)(wide >> 32);
    }
    voile_trim(&c);
    return c;
}

static voile_big voile_down(const voile_big *a, int bits) {
    voile_big c = {{0}, a->size > bits / 32 ? a->size - bits / 32 : 0};
    for (int i = 0; i < c.size; i++) {
        uint64_t wide = a->limb[i + bits / 32];
        if (i + bits / 32 + 1 < a->size) wide |= (uint64_t)a->limb[i + bits / 32 + 1] << 32;
        c.limb[i] = (uint32_t)(wide >> (bits % 32));
    }
    voile_trim(&c);
    return c;
}

static int voile_compare(const voile_big *a, const voile_big *b) {
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (int i = a->size - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static voile_big voile_plus(const voile_big *a, const voile_big *b, int *failed) {
    voile_big c = {{0}, (a->size > b->size ? a->size : b->size) + 1};
    if (c.size > VOILE_LIMBS) { *failed = 1; return voile_of(0); }
    uint64_t carry = 0;
    for (int i = 0; i < c.size; i++) {
        carry += (uint64_t)(i < a->size ? a->limb[i] : 0) + (i < b->size ? b->limb[i] : 0);
        c.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    voile_trim(&c);
    return c;
}

/* a − b, or 0 where that is less. */
static voile_big voile_minus(const voile_big *a, const voile_big *b) {
    if (voile_compare(a, b) <= 0) return voile_of(0);
    voile_big c = {{0}, a->size};
    int64_t borrow = 0;
    for (int i = 0; i < a->size; i++) {
        const int64_t d = (int64_t)a->limb[i] - (i < b->size ? b->limb[i] : 0) - borrow;
        c.limb[i] = (uint32_t)d;
        borrow = d < 0;
    }
    voile_trim(&c);
    return c;
}

static voile_big voile_over(const voile_big *a, uint32_t by) {
    voile_big c = *a;
    uint64_t rest = 0;
    for (int i = a->size - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        c.limb[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    voile_trim(&c);
    return c;
}

/* a / b rounded down, bit by bit; the remainder in a. */
static voile_big voile_divided(voile_big *a, const voile_big *b, int *failed) {
    voile_big found = {{0}, 0}, rest = {{0}, 0};
    const voile_big one = voile_of(1);
    for (int bit = 32 * a->size - 1; bit >= 0; bit--) {
        rest = voile_up(&rest, 1, failed);
        if (a->limb[bit / 32] >> (bit % 32) & 1) rest = voile_plus(&rest, &one, failed);
        if (voile_compare(&rest, b) >= 0) {
            rest = voile_minus(&rest, b);
            found.limb[bit / 32] |= (uint32_t)1 << (bit % 32);
            if (bit / 32 >= found.size) found.size = bit / 32 + 1;
        }
    }
    *a = rest;
    return found;
}

/* e^(−y)·2**places for y·2**places below 2**places, or 2**places itself, within 2**16. */
static voile_big voile_exp(const voile_big *y, int places, int *failed) {
    const voile_big one = voile_of(1);
    voile_big term = voile_up(&one, places, failed), sums[2] = {term, voile_of(0)};
    for (uint32_t n = 1; term.size && n < 2000 && !*failed; n++) {
        const voile_big product = voile_times(&term, y, failed);
        term = voile_down(&product, places);
        term = voile_over(&term, n);
        sums[n % 2] = voile_plus(&sums[n % 2], &term, failed);
    }
    return voile_minus(&sums[0], &sums[1]);
}

/* Whether a uniform number that begins with 64 bits is below (B·2**more / weight)·e^(−z²/2σ²). */
static int voile_accepts(const voile_big *size, const voile_big *t, uint64_t first,
                         uint64_t weight, int more, voile_bits *source) {
    int *failed = &source->failed;
    voile_big word = voile_of(first), squared = voile_times(size, size, failed);
    voile_big q = voile_times(t, t, failed);
    q = voile_up(&q, 7, failed);  /* z²/2σ² = size² / 128 t² */
    const voile_big whole = voile_divided(&squared, &q, failed), one = voile_of(1);
    const voile_big heavy = voile_of(weight), height = voile_of(voile_height);
    const voile_big top = voile_up(&height, more, failed);
    if (whole.size > 1) *failed = 1;
    for (int bits = 64; bits <= 1024 && !*failed; bits += 64) {
        const int places = bits + 160;
        voile_big wide = voile_up(&squared, places, failed);
        const voile_big y = voile_divided(&wide, &q, failed), unit = voile_up(&one, places, failed);
        const voile_big inverse = voile_exp(&unit, places, failed);  /* 1/e */
        voile_big power = voile_exp(&y, places, failed);
        for (uint32_t n = 0; n < (whole.size ? whole.limb[0] : 0) && power.size; n++) {
            const voile_big product = voile_times(&power, &inverse, failed);
            power = voile_down(&product, places);
        }
        const voile_big slack = voile_of((uint64_t)1 << 40);
        const voile_big low = voile_minus(&power, &slack);
        const voile_big high = voile_plus(&power, &slack, failed);
        const voile_big least = voile_times(&low, &top, failed);
        const voile_big most = voile_times(&high, &top, failed);
        const voile_big after = voile_plus(&word, &one, failed);
        voile_big from = voile_times(&word, &heavy, failed);
        voile_big upto = voile_times(&after, &heavy, failed);
        from = voile_up(&from, places - bits, failed);
        upto = voile_up(&upto, places - bits, failed);
        if (voile_compare(&upto, &least) <= 0) return 1;
        if (voile_compare(&from, &most) >= 0) return 0;
        const voile_big next = voile_of(voile_word(source));
        word = voile_up(&word, 64, failed);
        word = voile_plus(&word, &next, failed);
    }
    *failed = 1;
    return 0;
}

/* Whether a trial is accepted, exactly; past the table its size grows by t with chance ½ a step. */
static int voile_settled(int k, voile_big *size, const voile_big *t, uint64_t word,
                         voile_bits *bits) {
    int more = 0;
    if (k == VOILE_TABLE)
        for (;;) {
            more++;
            if (voile_word(bits) >> 63 || bits->failed) break;
            if (more > 512) bits->failed = 1;
            *size = voile_plus(size, t, &bits->failed);
        }
    return voile_accepts(size, t, word, k == VOILE_TABLE ? 1 : voile_weights[k], more, bits);
}

static int voile_search(const uint64_t *sums, int count, uint64_t target) {
    int first = 0, last = count;
    while (first < last) {
        const int middle = (first + last) / 2;
        if (sums[middle] > target) last = middle; else first = middle + 1;
    }
    return first;
}

/* An integer for each axis, Gaussian with σ = 8t: trials for all, then again for those refused. */
static void voile_gaussian(uint64_t t, int64_t *drawn, voile_bits *bits) {
    int left[VOILE_AXES], count = VOILE_AXES;
    for (int i = 0; i < count; i++) left[i] = i;
    while (count && !bits->failed) {
        uint64_t words[3][VOILE_AXES];
        for (int part = 0; part < 3; part++)
            for (int i = 0; i < count; i++) words[part][i] = voile_word(bits);
        int refused = 0;
        for (int i = 0; i < count; i++) {
            const int k = voile_search(voile_below, VOILE_TABLE + 1, words[0][i] >> 2);
            const int negative = (int)(words[0][i] & 1);
            /* The high half of a 32-bit word times t is uniform below t, but for some words. */
            const uint64_t product = (words[1][i] >> 32) * t;
            int taken = k <= VOILE_TABLE && (product & 0xFFFFFFFFu) >= ((uint64_t)1 << 32) % t;
            uint64_t size = (uint64_t)k * t + (product >> 32);
            if (taken) {
                const double reach = (double)size / (8.0 * (double)t);
                const double ratio = k < VOILE_TABLE
                    ? (double)voile_height / (double)voile_weights[k] : 0.0;
                const double gap = ratio * exp(-0.5 * reach * reach)
                    - (double)words[2][i] * 5.421010862427522170037e-20;
                taken = gap > 0;
                if (k == VOILE_TABLE || fabs(gap) < @DOUBT@) {
                    voile_big z = voile_of(size);
                    const voile_big scale = voile_of(t);
                    taken = voile_settled(k, &z, &scale, words[2][i], bits) && z.size <= 2;
                    size = z.limb[0] | (uint64_t)z.limb[1] << 32;
                }
            }
            if (taken && !(negative && size == 0))
                drawn[left[i]] = negative ? -(int64_t)size : (int64_t)size;
            else
                left[refused++] = left[i];
        }
        count = refused;
    }
}

/* One integer of a scale past the table, cut at ±2**62: once in 2**54 draws. */
static int64_t voile_far(const voile_big *t, int64_t from, voile_bits *bits) {
    while (!bits->failed) {
        const uint64_t first = voile_word(bits), word = voile_word(bits);
        const int k = voile_search(voile_below, VOILE_TABLE + 1, first >> 2);
        if (k > VOILE_TABLE) continue;
        int length = 32 * t->size;  /* of t in bits */
        while (!(t->limb[(length - 1) / 32] >> ((length - 1) % 32) & 1)) length--;
        voile_big below;
        do {  /* uniform below t */
            below = voile_of(0);
            for (int i = 0; 64 * i < length; i++) {
                const voile_big part = voile_of(voile_word(bits));
                const voile_big high = voile_up(&part, 64 * i, &bits->failed);
                below = voile_plus(&below, &high, &bits->failed);
            }
            for (int i = length; i < 32 * VOILE_LIMBS; i++)
                below.limb[i / 32] &= ~((uint32_t)1 << (i % 32));
            voile_trim(&below);
        } while (!bits->failed && voile_compare(&below, t) >= 0);
        const voile_big times = voile_of((uint64_t)k);
        voile_big size = voile_times(t, &times, &bits->failed);
        size = voile_plus(&size, &below, &bits->failed);
        if (!voile_settled(k, &size, t, word, bits)) continue;
        if (!size.size && first & 1) continue;
        /* the sum with `from`, cut */
        const uint64_t limit = (uint64_t)1 << 62;
        const voile_big own = voile_of((uint64_t)(from < 0 ? -from : from));
        const int same = (from < 0) == (int)(first & 1);
        const int larger = voile_compare(&size, &own) >= 0;
        const voile_big sum = same ? voile_plus(&size, &own, &bits->failed)
            : larger ? voile_minus(&size, &own) : voile_minus(&own, &size);
        const uint64_t cut = sum.size > 2 ? limit : sum.limb[0] | (uint64_t)sum.limb[1] << 32;
        const int negative = same || larger ? (int)(first & 1) : from < 0;
        return (cut > limit ? (int64_t)limit : (int64_t)cut) * (negative ? -1 : 1);
    }
    return 0;
}

/* A point of the lattice with noise, in steps; -1 if there is no randomness. */
static int voile_noise(int64_t *point, voile_source source, void *state) {
    voile_bits bits = {source, state, 0};
    const int chosen = voile_search(voile_sums, VOILE_SCALES, voile_word(&bits) >> 2);
    int64_t noise[VOILE_AXES] = {0};
    voile_gaussian(voile_eighths[chosen < VOILE_SCALES ? chosen : 0], noise, &bits);
    if (chosen < VOILE_SCALES) {
        for (int axis = 0; axis < VOILE_AXES; axis++) point[axis] += noise[axis];
        return bits.failed ? -1 : 0;
    }
    int place = 0;
    while (!(voile_word(&bits) >> 63) && !bits.failed)
        if (++place > 512) bits.failed = 1;
    const voile_big base = voile_of(voile_eighths[VOILE_SCALES - 1] / 4 * (5 + (uint64_t)place % 4));
    const voile_big scale = voile_up(&base, place / 4, &bits.failed);
    for (int axis = 0; axis < VOILE_AXES; axis++)
        point[axis] = voile_far(&scale, point[axis], &bits);
    return bits.failed ? -1 : 0;
}

/* Degrees in, degrees out: 0, or -1 where nothing may be reported (no degrees, too far off the
 * map, no randomness); the place is then set to NaN. */
static int voile_release(double *lat, double *lon, voile_source source, void *state) {
    double point[VOILE_AXES];
    int64_t lattice[VOILE_AXES];
    int bad = voile_space(*lat, *lon, point);
    for (int axis = 0; axis < VOILE_AXES && !bad; axis++)
        lattice[axis] = (int64_t)rint(point[axis] / voile_step);
    bad = bad || voile_noise(lattice, source, state);
    *lat = *lon = NAN;
    if (bad) return -1;
    for (int axis = 0; axis < VOILE_AXES; axis++) point[axis] = (double)lattice[axis] * voile_step;
    voile_ground(point, lat, lon);
    return 0;
}
