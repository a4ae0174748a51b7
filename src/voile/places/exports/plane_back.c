/* Kilometres on the plane to degrees: the geodesic from the centre (Vincenty 1975). */
static void voile_ground(const double *point, double *lat, double *lon) {
    const double a = 6378.137, f = 1 / 298.257223563, b = a * (1 - f);
    const double pi = 3.14159265358979323846, degree = pi / 180;
    double away = hypot(point[0], point[1]);
    if (away == 0) { *lat = voile_centre[0]; *lon = voile_centre[1]; return; }
    const double sa = point[0] / away, ca = point[1] / away;
    if (away > 19000) away = 19000;  /* half-way round the Earth a plane has no places */
    const double u1 = atan((1 - f) * tan(voile_centre[0] * degree));
    const double s1 = sin(u1), c1 = cos(u1), alpha = c1 * sa, squared = 1 - alpha * alpha;
    const double from = atan2(s1, c1 * ca), u = squared * (a * a - b * b) / (b * b);
    const double big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
    const double small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
    double angle = away / (b * big), twice = 0, sine = 0, cosine = 1;
    for (int i = 0; i < 50; i++) {
        twice = cos(2 * from + angle), sine = sin(angle), cosine = cos(angle);
        const double before = angle;
        angle = away / (b * big) + small * sine * (twice + small / 4 * (cosine
            * (2 * twice * twice - 1) - small / 6 * twice * (4 * sine * sine - 3)
            * (4 * twice * twice - 3)));
        if (fabs(angle - before) < 1e-15) break;
    }
    twice = cos(2 * from + angle), sine = sin(angle), cosine = cos(angle);
    const double up = s1 * sine - c1 * cosine * ca;
    *lat = atan2(s1 * cosine + c1 * sine * ca, (1 - f) * sqrt(alpha * alpha + up * up)) / degree;
    const double c = f / 16 * squared * (4 + f * (4 - 3 * squared));
    const double l = atan2(sine * sa, c1 * cosine - s1 * sine * ca) - (1 - c) * f * alpha
        * (angle + c * sine * (twice + c * cosine * (2 * twice * twice - 1)));
    const double east = voile_centre[1] + l / degree;
    *lon = east > 180 ? east - 360 : east < -180 ? east + 360 : east;
}

static int voile_space(double lat, double lon, double *point) {
    return voile_project(lat, lon, point, point + 1)
        || !(hypot(point[0], point[1]) <= voile_reach);
}
