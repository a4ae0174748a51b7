"""The language model as a judge: strict replies, failing endpoints, work that is not lost."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import voile
from judges import first, knows
from voile.attackers.endpoint import EndpointFailed, endpoint
from voile.attackers.llm_judge import LlmJudge, parse, prompt
from voile.audit.distinguishing import attribute
from voile.audit.games import plan
from voile.errors import InvalidInput
from voile.progress import heard_by


@pytest.mark.parametrize(
    ("reply", "column"),
    [
        ("answer: [[1]]", 0),
        ("Answer: [[ 2 ]]\n", 1),
        ("answer: [[3]]", None),
        ("answer: [[0]]", None),
        ("answer: 1", None),
        ("I think answer: [[1]]", None),
        ("answer: [[1]] because", None),
        ("answer: [[1]] answer: [[2]]", None),
        ("", None),
        ("**answer: [[1]]**", 0),
        ("**Answer: [[2]].**", 1),
        ("**Answer:** [[2]]", 1),
        ("Answer: **[[2]]**.", 1),
        ("`answer: [[1]]`", 0),
        ("Answer: [[1]].", 0),
        ("<think>It is [[2]], answer: [[2]].</think>\n\nanswer: [[1]]", 0),
        ("<Thinking>hm</Thinking>answer: [[2]]", 1),
        ("<think>answer: [[1]]", None),
        ("answer: [[" + "1" * 5000 + "]]", None),
    ],
)
def test_replies_are_parsed_strictly(reply, column):
    assert parse(reply, candidates=2) == column


def test_the_prompt_holds_the_release_and_numbered_candidates():
    text = prompt(["first text", "second text"], "a release")
    assert "Rewritten text Y:\na release\n" in text
    assert "1. first text\n2. second text\n" in text
    assert "answer: [[N]]" in text


@pytest.fixture
def server():
    """A chat endpoint whose next answers a test can choose."""

    class Handler(BaseHTTPRequestHandler):
        plan, seen, delay = [], [], 0.0

        def do_POST(self):
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            Handler.seen.append((self.path, self.headers.get("Authorization"), body))
            status, content = Handler.plan.pop(0) if Handler.plan else (200, "answer: [[1]]")
            if status is None:
                return  # hang up without an answer
            self.send_response(status)
            self.end_headers()
            answer = {"choices": [{"message": {"content": content}}]}
            self.wfile.write(json.dumps(answer if content is not None else {}).encode())

        def log_message(self, *args):
            pass

    Handler.plan, Handler.seen = [], []
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/v1", Handler
    running.shutdown()
    running.server_close()
    thread.join()


def asking(url, **more):
    return endpoint(url, model="small", key="k", parallel=1, wait=0.0, **more)


def test_an_endpoint_is_asked_as_the_protocol_says(server):
    url, handler = server
    assert list(asking(url)(["which?"])) == ["answer: [[1]]"]
    path, key, body = handler.seen[0]
    assert path == "/v1/chat/completions"
    assert key == "Bearer k"
    assert body["messages"] == [{"role": "user", "content": "which?"}]
    assert body["temperature"] == 0


def test_failures_are_tried_again(server):
    url, handler = server
    handler.plan = [(500, ""), (429, ""), (None, ""), (200, None), (200, "answer: [[2]]")]
    assert list(asking(url)(["which?"])) == ["answer: [[2]]"]
    assert len(handler.seen) == 5


def test_a_dead_endpoint_is_one_clear_error_and_work_is_kept(server, tmp_path):
    url, handler = server
    pool, sets = ["a", "b"], np.array([[0, 1]] * 6)
    releases = [f"release {i}" for i in range(6)]
    kept = tmp_path / "replies.jsonl"
    handler.plan = [(200, "answer: [[2]]")] * 8 + [(503, "")] * 3
    judge = LlmJudge(asking(url, retries=2), kept=kept)
    with pytest.raises(EndpointFailed, match=r"must answer, got status 503 after 3 tries"):
        judge.scores(pool, sets, releases)
    asked = len(handler.seen)
    scores = judge.scores(pool, sets, releases)
    assert len(handler.seen) == asked + 4, "the eight paid replies are not asked for again"
    assert scores.tolist() == [[0.5, 0.5]] * 6, "one place in both orders is no answer"
    kept.write_text(kept.read_text() + '\n["cut off by a cra')
    again = LlmJudge(asking(url), kept=kept)
    assert np.array_equal(again.scores(pool, sets, releases), scores)
    assert len(handler.seen) == asked + 4


def test_a_refused_key_is_not_tried_again(server):
    url, handler = server
    handler.plan = [(401, "")] * 5
    with pytest.raises(EndpointFailed, match="status 401 after 1 tries"):
        list(asking(url)(["which?"]))
    assert len(handler.seen) == 1


def test_a_slow_endpoint_times_out():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(EndpointFailed, match="after 2 tries"):
            list(asking(url, deadline=0.2, retries=1)(["which?"]))
    with pytest.raises(InvalidInput, match="url must be http"):
        endpoint("ftp://x", model="m")


def test_unreadable_replies_are_fair_guesses_and_reported():
    game = plan(["a b", "c d"], trials=2000, temperature=0.0, rng=voile.seeded_rng(1))
    judge = LlmJudge(lambda prompts: ["no idea"] * len(prompts))
    found = attribute(game, game.sources, judge, failure_probability=1e-9, rng=voile.seeded_rng(2))
    assert found.estimate.lower == 0.0
    assert "4,000 of 4,000 replies could not be read" in found.finding().detail
    assert not judge.is_evidence
    short = LlmJudge(lambda prompts: ["answer: [[1]]"])
    with pytest.raises(InvalidInput, match="replies must be one for each"):
        attribute(game, game.sources, short, rng=voile.seeded_rng(2))
    judge = LlmJudge(lambda prompts: [knows(p) for p in prompts])
    perfect = attribute(game, game.sources, judge, rng=voile.seeded_rng(2))
    assert perfect.estimate.at_ceiling
    assert judge.is_evidence
    places = [int(count.replace(",", "")) for count in judge.note.split(": ")[1].split(", ")]
    assert places[0] == places[1], "what is right stands as often in either place"


def test_how_many_questions_are_answered_is_told():
    heard = []
    judge = LlmJudge(lambda prompts: [first(prompt) for prompt in prompts])
    with heard_by(heard.append):
        judge.scores(["a", "b", "c"], np.array([[0, 1], [1, 2]]), ["x", "y"])
    told = [step.done for step in heard if step.what == "questions answered by the judge"]
    assert told == [1, 2, 3, 4], "two questions, each in two orders"


def test_a_judge_that_always_names_one_place_is_no_evidence():
    game = plan(["a b", "c d"], trials=40, temperature=0.0, rng=voile.seeded_rng(1))
    judge = LlmJudge(lambda prompts: [first(p) for p in prompts])
    found = attribute(game, game.sources, judge, rng=voile.seeded_rng(2))
    assert "it did not compare, and what it failed to show is no evidence" in found.note
    assert (found.scores == 0.5).all(), "asked in both orders, it names both"
    assert not judge.is_evidence
    few = plan(["a b", "c d"], trials=5, temperature=0.0, rng=voile.seeded_rng(1))
    assert attribute(few, few.sources, judge, rng=voile.seeded_rng(2)).note.endswith(": 10, 0")
