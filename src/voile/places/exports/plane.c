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
