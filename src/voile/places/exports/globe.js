// A place as its point in space, km (WGS 84, height 0): the whole Earth alike.
export function space(lat, lon) {
  const a = 6378.137, f = 1 / 298.257223563, e = f * (2 - f), degree = Math.PI / 180;
  const numbers = typeof lat === "number" && typeof lon === "number"; // null is none, and no 0
  if (!(numbers && Math.abs(lat) <= 90 && Math.abs(lon) <= 180)) throw new RangeError("not degrees");
  const s = Math.sin(lat * degree), c = Math.cos(lat * degree);
  const across = a / Math.sqrt(1 - e * s * s);
  return [across * c * Math.cos(lon * degree), across * c * Math.sin(lon * degree),
    across * (1 - e) * s];
}

// The place below or above a point in space (Bowring 1976).
export function ground([x, y, z]) {
  const a = 6378.137, f = 1 / 298.257223563, e = f * (2 - f), b = a * (1 - f);
  const degree = Math.PI / 180, out = Math.hypot(x, y), angle = Math.atan2(z * a, out * b);
  const s = Math.sin(angle), c = Math.cos(angle);
  const lat = Math.atan2(z + e / (1 - e) * b * s * s * s, out - e * a * c * c * c) / degree;
  return [Math.max(-90, Math.min(90, lat)), Math.atan2(y, x) / degree];
}
