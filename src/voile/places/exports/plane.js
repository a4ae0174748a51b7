// Degrees to kilometres on the map's plane: azimuthal equidistant on WGS 84 (Vincenty 1975).
export function project(lat, lon) {
  const a = 6378.137, f = 1 / 298.257223563, b = a * (1 - f), degree = Math.PI / 180;
  const numbers = typeof lat === "number" && typeof lon === "number"; // null is none, and no 0
  if (!(numbers && Math.abs(lat) <= 90 && Math.abs(lon) <= 180)) throw new RangeError("not degrees");
  const u1 = Math.atan((1 - f) * Math.tan(CENTRE[0] * degree));
  const u2 = Math.atan((1 - f) * Math.tan(lat * degree));
  const s1 = Math.sin(u1), c1 = Math.cos(u1), s2 = Math.sin(u2), c2 = Math.cos(u2);
  let apart = (lon - CENTRE[1]) * degree;
  if (apart > Math.PI) apart -= 2 * Math.PI;
  if (apart < -Math.PI) apart += 2 * Math.PI;
  let l = apart, sine, cosine, angle, squared, twice, p, q, near = false;
  for (let i = 0; i < 50 && !near; i++) {
    p = c2 * Math.sin(l);
    q = c1 * s2 - s1 * c2 * Math.cos(l);
    sine = Math.sqrt(p * p + q * q);
    cosine = s1 * s2 + c1 * c2 * Math.cos(l);
    angle = Math.atan2(sine, cosine);
    if (sine === 0 && cosine > 0) return [0, 0];
    const alpha = c1 * c2 * Math.sin(l) / sine;
    squared = 1 - alpha * alpha;
    twice = squared > 0 ? cosine - 2 * s1 * s2 / squared : 0;
    const c = f / 16 * squared * (4 + f * (4 - 3 * squared));
    const before = l;
    l = apart + (1 - c) * f * alpha
      * (angle + c * sine * (twice + c * cosine * (2 * twice * twice - 1)));
    near = Math.abs(l - before) < 1e-14;
  }
  if (!near) throw new RangeError("too far from the map");
  const u = squared * (a * a - b * b) / (b * b);
  const big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
  const small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
  const change = small * sine * (twice + small / 4 * (cosine * (2 * twice * twice - 1)
    - small / 6 * twice * (4 * sine * sine - 3) * (4 * twice * twice - 3)));
  const away = b * big * (angle - change), size = Math.sqrt(p * p + q * q);
  return [away * p / size, away * q / size];
}
