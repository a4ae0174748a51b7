/* A place as its point in space, km (WGS 84, height 0): the whole Earth alike. */
static int voile_space(double lat, double lon, double *point) {
    const double a = 6378.137, f = 1 / 298.257223563, e = f * (2 - f);
    const double degree = 3.14159265358979323846 / 180;
    if (!(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180)) return -1;
    const double s = sin(lat * degree), c = cos(lat * degree), across = a / sqrt(1 - e * s * s);
    point[0] = across * c * cos(lon * degree);
    point[1] = across * c * sin(lon * degree);
    point[2] = across * (1 - e) * s;
    return 0;
}

/* The place below or above a point in space (Bowring 1976). */
static void voile_ground(const double *point, double *lat, double *lon) {
    const double a = 6378.137, f = 1 / 298.257223563, e = f * (2 - f), b = a * (1 - f);
    const double degree = 3.14159265358979323846 / 180;
    const double out = hypot(point[0], point[1]), angle = atan2(point[2] * a, out * b);
    const double s = sin(angle), c = cos(angle);
    *lat = atan2(point[2] + e / (1 - e) * b * s * s * s, out - e * a * c * c * c) / degree;
    if (*lat > 90) *lat = 90;
    if (*lat < -90) *lat = -90;
    *lon = atan2(point[1], point[0]) / degree;
}
