"""Judges for tests: one that knows which paraphrase is whose, and ones with a planted fault."""

from voile.attackers.judge_check import PAIRS

ORIGINAL_OF = {paraphrase: original for original, paraphrase in PAIRS}


def asked_of(prompt):
    """The release and the candidates that a question shows."""
    release, _, rest = prompt.split("Rewritten text Y:\n")[1].partition("\nCandidate original")
    lines = rest.split("\n")[1:-1]
    return release, [line.partition(". ")[2] for line in lines]


def knows(prompt):
    """Names the original of a paraphrase of ours, else the candidate that shares most words."""
    release, candidates = asked_of(prompt)
    told = ORIGINAL_OF.get(release, release)
    shared = [len(set(told.split()) & set(text.split())) for text in candidates]
    return f"answer: [[{shared.index(max(shared)) + 1}]]"


def first(prompt):
    """Names the first place whatever it is shown."""
    return "answer: [[1]]"


def leans(prompt):
    """Knows, but names the first place in two questions of three."""
    return first(prompt) if len(prompt) % 3 else knows(prompt)


def answering(reply, heard=None):
    """What stands in for `endpoint`: it replies by this rule, and notes what it was asked."""

    def endpoint(url, *, model, key=None, originals_leave_this_machine=False, **other):
        def ask(prompts):
            if heard is not None:
                heard.extend(prompts)
            return [reply(prompt) for prompt in prompts]

        return ask

    return endpoint
