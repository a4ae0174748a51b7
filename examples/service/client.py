"""A small client of `voile serve`: Python's standard library and nothing else.

python client.py http://localhost:8787 places '{"lat": 48.8584, "lon": 2.2945, "who": "4711"}'

The token comes from VOILE_TOKEN. When the line or the service breaks, it is asked again under the
same idempotency key: the same release comes back, charged once. Routes without a ledger take none.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid


class Refused(Exception):
    """The service said no: its code and its reason."""


class Client:
    """Asks one service; routes without a ledger, once met, are asked without a key."""

    def __init__(self, url: str, token: str, *, tries: int = 5) -> None:
        self.url, self.token, self.tries, self.keyless = url.rstrip("/"), token, tries, set()

    def release(self, route: str, record: dict) -> dict:
        """One record, protected."""
        return self._ask(route, {"record": record})["release"]

    def releases(self, route: str, records: list[dict]) -> list[dict]:
        """Many records, each protected, or with an "error" that says why not."""
        return self._ask(route, {"records": records})["releases"]

    def _ask(self, route: str, body: dict) -> dict:
        key = {} if route in self.keyless else {"Idempotency-Key": uuid.uuid4().hex}
        headers = {"Authorization": f"Bearer {self.token}", **key}
        asked = urllib.request.Request(f"{self.url}/v1/{route}", json.dumps(body).encode(), headers)
        for left in reversed(range(self.tries)):
            try:
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as problem:
                error = json.load(problem)["error"]
                if error["code"] == "no-ledger":
                    self.keyless.add(route)
                    return self._ask(route, body)
                if problem.code not in (429, 503) or not left:
                    raise Refused(f"{error['code']}: {error['message']}") from None
                time.sleep(float(problem.headers.get("Retry-After", 1)))
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if not key or not left:
                    raise  # without a key, asking again would draw again
                time.sleep(0.2 * 2 ** (self.tries - left))


if __name__ == "__main__":
    address, route, record = sys.argv[1:]
    print(json.dumps(Client(address, os.environ["VOILE_TOKEN"]).release(route, json.loads(record))))
