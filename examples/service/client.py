"""A small client of `voile serve`: Python's standard library and nothing else.

python client.py http://localhost:8787 places '{"lat": 48.8584, "lon": 2.2945, "who": "4711"}'

The token comes from VOILE_TOKEN. A request is asked again under the same idempotency key when the
line or the service breaks: the same release comes back, charged once.
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
    """Asks one service; `keyed` where the route has a ledger."""

    def __init__(self, url: str, token: str, *, keyed: bool = True, tries: int = 5) -> None:
        self.url, self.token, self.keyed, self.tries = url.rstrip("/"), token, keyed, tries

    def release(self, route: str, record: dict) -> dict:
        """One record, protected."""
        return self._ask(route, {"record": record})["release"]

    def releases(self, route: str, records: list[dict]) -> list[dict]:
        """Many records, each protected, or with an "error" that says why not."""
        return self._ask(route, {"records": records})["releases"]

    def _ask(self, route: str, body: dict) -> dict:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if self.keyed:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        content = json.dumps(body).encode()
        for attempt in range(self.tries):
            asked = urllib.request.Request(f"{self.url}/v1/{route}", content, headers)
            try:
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as problem:
                error = json.load(problem)["error"]
                if problem.code not in (429, 503) or attempt == self.tries - 1:
                    raise Refused(f"{error['code']}: {error['message']}") from None
                time.sleep(float(problem.headers.get("Retry-After", 1)))
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if not self.keyed or attempt == self.tries - 1:
                    raise  # without a key, asking again would draw and charge again
                time.sleep(0.2 * 2**attempt)
        raise Refused("no answer")


if __name__ == "__main__":
    url, route, record = sys.argv[1:]
    print(json.dumps(Client(url, os.environ["VOILE_TOKEN"]).release(route, json.loads(record))))
