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
#define VOILE_WORDS @WORDS@    /* of 64 random bits a draw */
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
@TABLES@static const double voile_outputs[][2] = {@PLACES@};                   /* latitude, longitude */

@PLANE@
static int64_t voile_snap(double value, int axis) {
    if (value < voile_low[axis]) value = voile_low[axis];
    if (value > voile_high[axis]) value = voile_high[axis];
    const double steps = rint((value - voile_low[axis]) / voile_step);
    return steps > voile_last[axis] ? voile_last[axis] : (int64_t)steps;
}

@CHOICE@
/* The output that random words draw at a lattice place. */
static int voile_draw_at(int64_t i, int64_t j, const uint64_t *words) {
    int64_t weights[VOILE_STENCIL * VOILE_STENCIL], total = 0;
    int64_t nodes[VOILE_STENCIL * VOILE_STENCIL];
    int count = 0, largest = 0;
    for (int r = 0; r < VOILE_STENCIL; r++)
        for (int s = 0; s < VOILE_STENCIL; s++, count++) {
            const double weight = voile_basis_0[VOILE_STENCIL * i + r]
                                * voile_basis_1[VOILE_STENCIL * j + s];
            weights[count] = (int64_t)(weight * 4503599627370496.0);
            total += weights[count];
            if (weights[count] > weights[largest]) largest = count;
            nodes[count] = (voile_cell_0[i] + r) * voile_stride[0]
                         + (voile_cell_1[j] + s) * voile_stride[1];
        }
    weights[largest] += ((int64_t)1 << 52) - total;
    return voile_choice(weights, nodes, words);
}

/* One draw at a place of the plane (km), from VOILE_WORDS words of 64 random bits. */
static int voile_draw(double x, double y, const uint64_t *words) {
    return voile_draw_at(voile_snap(x, 0), voile_snap(y, 1), words);
}

@SOURCE@
/* Degrees in, degrees out: 0, or -1 where nothing may be reported (too far off the map, no
 * degrees, no randomness); the place is then set to NaN. */
static int voile_release(double *lat, double *lon, voile_source source, void *state) {
    double x, y;
    uint64_t words[VOILE_WORDS];
    int bad = voile_project(*lat, *lon, &x, &y) || !(sqrt(x * x + y * y) <= voile_reach);
    bad = bad || source(state, words, sizeof words);
    const int drawn = bad ? -1 : voile_draw(x, y, words);
    *lat = bad ? NAN : voile_outputs[drawn][0];
    *lon = bad ? NAN : voile_outputs[drawn][1];
    return bad ? -1 : 0;
}
