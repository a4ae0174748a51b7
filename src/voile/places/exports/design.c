/* A mechanism for places, made by voile @VERSION@ from a design; do not edit.
 *
 * @PROMISE@
 *
 *   double lat = 45.0, lon = 5.0;
 *   if (voile_release(&lat, &lon, voile_random, 0) == 0) report(lat, lon);
 *
 * One release is one draw: draw once for a place, keep what was drawn, and count ε for each.
 * The random words must come from a cryptographic generator; `voile_random` asks the system's.
 * C99 with 128-bit integers (gcc, clang). Nothing is allocated, nothing is kept between calls.
 * Compile without -ffast-math.
 */
#include <math.h>
#include <stdint.h>
#include <stddef.h>

#define VOILE_OUTPUTS @OUTPUTS@
#define VOILE_STENCIL @STENCIL@  /* coefficients along an axis that count at a place */
static const double voile_low[2] = {@LOW@}, voile_high[2] = {@HIGH@};  /* the map, km */
static const double voile_step = @STEP@;                               /* of the lattice, km */
static const double voile_reach = @REACH@;  /* km from the centre: farther places are refused */
static const double voile_centre[2] = {@CENTRE@};                      /* latitude, longitude */
static const int64_t voile_last[2] = {@LAST@}, voile_stride[2] = {@STRIDES@};
/* Along each axis, for each lattice place: its cell, and the weights of the coefficients there. */
static const uint16_t voile_cell_0[] = {@CELLS_0@}, voile_cell_1[] = {@CELLS_1@};
static const double voile_basis_0[] = {@BASIS_0@};
static const double voile_basis_1[] = {@BASIS_1@};
/* For each coefficient the running sums over the outputs, out of 2**62. */
static const int64_t voile_sums[][VOILE_OUTPUTS] = {@SUMS@};
static const double voile_outputs[][2] = {@PLACES@};                   /* latitude, longitude */

/* Degrees to kilometres on the map's plane: azimuthal equidistant on WGS 84 (Vincenty 1975). */
static int voile_project(double lat, double lon, double *x, double *y) {
    const double a = 6378.137, f = 1 / 298.257223563, b = a * (1 - f);
    const double pi = 3.14159265358979323846, degree = pi / 180;
    if (!(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180)) return -1;
    const double u1 = atan((1 - f) * tan(voile_centre[0] * degree));
    const double u2 = atan((1 - f) * tan(lat * degree));
    const double s1 = sin(u1), c1 = cos(u1), s2 = sin(u2), c2 = cos(u2);
    double apart = (lon - voile_centre[1]) * degree;
    if (apart > pi) apart -= 2 * pi;
    if (apart < -pi) apart += 2 * pi;
    double l = apart, sine = 0, cosine = 1, angle = 0, squared = 0, twice = 0, p = 0, q = 0;
    for (int i = 0; i < 50; i++) {
        p = c2 * sin(l);
        q = c1 * s2 - s1 * c2 * cos(l);
        sine = sqrt(p * p + q * q);
        cosine = s1 * s2 + c1 * c2 * cos(l);
        angle = atan2(sine, cosine);
        if (sine == 0) { *x = *y = 0; return cosine > 0 ? 0 : -1; }
        const double alpha = c1 * c2 * sin(l) / sine;
        squared = 1 - alpha * alpha;
        twice = squared > 0 ? cosine - 2 * s1 * s2 / squared : 0;
        const double c = f / 16 * squared * (4 + f * (4 - 3 * squared));
        const double before = l;
        l = apart + (1 - c) * f * alpha *
            (angle + c * sine * (twice + c * cosine * (2 * twice * twice - 1)));
        if (fabs(l - before) < 1e-14) break;
        if (i == 49) return -1;
    }
    const double u = squared * (a * a - b * b) / (b * b);
    const double big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
    const double small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
    const double change = small * sine * (twice + small / 4 * (cosine * (2 * twice * twice - 1)
        - small / 6 * twice * (4 * sine * sine - 3) * (4 * twice * twice - 3)));
    const double away = b * big * (angle - change), size = sqrt(p * p + q * q);
    *x = away * p / size;
    *y = away * q / size;
    return 0;
}

static int64_t voile_snap(double value, int axis) {
    if (value < voile_low[axis]) value = voile_low[axis];
    if (value > voile_high[axis]) value = voile_high[axis];
    const double steps = rint((value - voile_low[axis]) / voile_step);
    return steps > voile_last[axis] ? voile_last[axis] : (int64_t)steps;
}

/* The first output whose running sum exceeds the target, of 62 bits, at a lattice place. */
static int voile_draw_at(int64_t i, int64_t j, uint64_t target) {
    int64_t weights[VOILE_STENCIL * VOILE_STENCIL], total = 0;
    const int64_t *rows[VOILE_STENCIL * VOILE_STENCIL];
    int count = 0, largest = 0;
    for (int r = 0; r < VOILE_STENCIL; r++)
        for (int s = 0; s < VOILE_STENCIL; s++, count++) {
            const double weight = voile_basis_0[VOILE_STENCIL * i + r]
                                * voile_basis_1[VOILE_STENCIL * j + s];
            weights[count] = (int64_t)(weight * 4503599627370496.0);
            total += weights[count];
            if (weights[count] > weights[largest]) largest = count;
            rows[count] = voile_sums[(voile_cell_0[i] + r) * voile_stride[0]
                                   + (voile_cell_1[j] + s) * voile_stride[1]];
        }
    weights[largest] += ((int64_t)1 << 52) - total;
    int first = 0, last = VOILE_OUTPUTS - 1;
    while (first < last) {
        const int middle = (first + last) / 2;
        __int128 sum = 0;
        for (int k = 0; k < count; k++) sum += (__int128)weights[k] * rows[k][middle];
        if ((int64_t)(sum >> 52) > (int64_t)target) last = middle; else first = middle + 1;
    }
    return first;
}

/* One draw at a place of the plane (km), from 64 random bits. */
static int voile_draw(double x, double y, uint64_t word) {
    return voile_draw_at(voile_snap(x, 0), voile_snap(y, 1), word >> 2);
}

/* Fills bytes with randomness; 0 if it did. */
typedef int (*voile_source)(void *state, void *bytes, size_t count);

#if defined(__linux__) || defined(__APPLE__) || defined(__unix__)
#include <unistd.h>
#if defined(__linux__)
#include <sys/random.h>
#elif defined(__APPLE__)
#include <sys/random.h>
#endif
/* The operating system's generator. */
static int voile_random(void *state, void *bytes, size_t count) {
    (void)state;
    return getentropy(bytes, count);
}
#endif

/* Degrees in, degrees out: 0, or -1 where nothing may be reported (too far off the map, no
 * degrees, no randomness); the place is then set to NaN. */
static int voile_release(double *lat, double *lon, voile_source source, void *state) {
    double x, y;
    uint64_t word;
    int bad = voile_project(*lat, *lon, &x, &y) || !(sqrt(x * x + y * y) <= voile_reach);
    bad = bad || source(state, &word, sizeof word);
    const int drawn = bad ? -1 : voile_draw(x, y, word);
    *lat = bad ? NAN : voile_outputs[drawn][0];
    *lon = bad ? NAN : voile_outputs[drawn][1];
    return bad ? -1 : 0;
}
