// Kilometres on the plane to degrees: the geodesic from the centre (Vincenty 1975).
export function ground([x, y]) {
  const a = 6378.137, f = 1 / 298.257223563, b = a * (1 - f), degree = Math.PI / 180;
  const length = Math.hypot(x, y);
  if (length === 0) return CENTRE.slice();
  const sa = x / length, ca = y / length;
  const away = Math.min(length, 19000); // half-way round the Earth a plane has no places
  const u1 = Math.atan((1 - f) * Math.tan(CENTRE[0] * degree));
  const s1 = Math.sin(u1), c1 = Math.cos(u1), alpha = c1 * sa, squared = 1 - alpha * alpha;
  const from = Math.atan2(s1, c1 * ca), u = squared * (a * a - b * b) / (b * b);
  const big = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)));
  const small = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)));
  let angle = away / (b * big), before = Infinity, twice, sine, cosine;
  const look = () => {
    twice = Math.cos(2 * from + angle);
    sine = Math.sin(angle);
    cosine = Math.cos(angle);
  };
  for (let i = 0; i < 50 && Math.abs(angle - before) >= 1e-15; i++) {
    look();
    before = angle;
    angle = away / (b * big) + small * sine * (twice + small / 4 * (cosine
      * (2 * twice * twice - 1) - small / 6 * twice * (4 * sine * sine - 3)
      * (4 * twice * twice - 3)));
  }
  look();
  const up = s1 * sine - c1 * cosine * ca;
  const lat = Math.atan2(s1 * cosine + c1 * sine * ca,
    (1 - f) * Math.sqrt(alpha * alpha + up * up)) / degree;
  const c = f / 16 * squared * (4 + f * (4 - 3 * squared));
  const l = Math.atan2(sine * sa, c1 * cosine - s1 * sine * ca) - (1 - c) * f * alpha
    * (angle + c * sine * (twice + c * cosine * (2 * twice * twice - 1)));
  const east = CENTRE[1] + l / degree;
  return [lat, east > 180 ? east - 360 : east < -180 ? east + 360 : east];
}

export function space(lat, lon) {
  const point = project(lat, lon);
  if (!(Math.hypot(...point) <= REACH)) throw new RangeError("too far from the map");
  return point;
}
