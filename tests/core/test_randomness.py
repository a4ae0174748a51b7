"""Where random words come from, and what a secure generator refuses."""

import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
import randomgen
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, Generator, Philox

import voile
from voile.core.randomness import keyed_rng, uniform_bits
from voile.errors import ForkedGenerator, InvalidInput

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

ARGUMENTS = {
    "beta": (1, 1), "binomial": (5, 0.5), "bytes": (4,), "chisquare": (2,), "choice": (5,),
    "dirichlet": ([1, 1],), "f": (2, 2), "gamma": (2,), "geometric": (0.5,),
    "hypergeometric": (5, 5, 3), "integers": (5,), "logseries": (0.5,),
    "multinomial": (5, [0.5, 0.5]), "multivariate_hypergeometric": ([3, 3], 2),
    "multivariate_normal": ([0, 0], np.eye(2)), "negative_binomial": (3, 0.5),
    "noncentral_chisquare": (2, 1), "noncentral_f": (2, 2, 1), "pareto": (2,),
    "permutation": (5,), "permuted": ([1, 2, 3],), "poisson": (3,), "power": (2,),
    "shuffle": (np.arange(3),), "spawn": (2,), "standard_gamma": (2,), "standard_t": (3,),
    "triangular": (0, 1, 2), "vonmises": (0, 1), "wald": (1, 1), "weibull": (2,), "zipf": (2,),
}  # fmt: skip
METHODS = [n for n in dir(Generator) if not n.startswith("_") and n != "bit_generator"]


def in_a_fork(attempt) -> str:
    """What a forked child says of `attempt`: what it returned, or the error's class."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, str(attempt()).encode())
        except BaseException as problem:
            os.write(writer, type(problem).__name__.encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        return said.read().decode()


def test_secure_generators_differ_and_seeded_ones_repeat():
    secure = [uniform_bits(voile.secure_rng(), 4, bits=62).tolist() for _ in range(2)]
    assert secure[0] != secure[1]
    seeded = [uniform_bits(voile.seeded_rng(5), 4, bits=62).tolist() for _ in range(2)]
    assert seeded[0] == seeded[1]
    assert voile.is_secure(voile.secure_rng())
    assert not voile.is_secure(voile.seeded_rng(5))


def test_uniform_bits_use_all_their_bits():
    words = uniform_bits(voile.secure_rng(), 4096, bits=62)
    assert int(words.max()) < 2**62
    ones = [(int(((words >> np.uint64(bit)) & np.uint64(1)).sum())) for bit in range(62)]
    # Each is Binomial(4096, ½): 7.5 standard deviations is below 1e-12 for all 62 together.
    assert max(abs(count - 2048) for count in ones) < 7.5 * 32


def test_every_method_is_refused_after_a_fork():
    """The guard is the lock that all of NumPy's methods take: none is forgotten, new ones neither.

    `random_raw`, a second `Generator` around the same bits, and a generator that was used before
    are tried too.
    """
    rng = voile.secure_rng()
    rng.random()

    def drew() -> list[str]:
        through = []
        for name in METHODS:
            try:
                getattr(rng, name)(*ARGUMENTS.get(name, ()))
            except ForkedGenerator:
                continue
            through.append(name)
        return through

    assert len(METHODS) > 40
    assert in_a_fork(drew) == "[]"
    for attempt in (
        lambda: rng.bit_generator.random_raw(3),
        lambda: Generator(rng.bit_generator).random(),
        lambda: uniform_bits(rng, 1, bits=62),
        lambda: copy.copy(rng).random(),
    ):
        assert in_a_fork(attempt) == "ForkedGenerator"
    assert rng.random() < 1, "the parent goes on"


def test_a_child_with_its_parents_number_is_refused_too(monkeypatch):
    """In a container of its own a child may have the same process number."""
    rng = voile.secure_rng()
    number = os.getpid()

    def attempt() -> float:
        os.getpid = lambda: number
        return rng.random()

    assert in_a_fork(attempt) == "ForkedGenerator"


def test_every_method_works_at_home():
    rng = voile.secure_rng()
    for name in set(METHODS) - {"spawn"}:
        getattr(rng, name)(*ARGUMENTS.get(name, ()))


def test_a_thread_that_drew_during_a_fork_does_not_block_the_child():
    """The lock is asked for its process before it is waited for."""
    rng = voile.secure_rng()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with rng.bit_generator.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        assert in_a_fork(rng.random) == "ForkedGenerator"
    finally:
        done.set()
        thread.join()


def test_threads_never_draw_the_same_words():
    """Raw words and NumPy's methods are drawn under one lock."""
    rng = voile.secure_rng()
    raw, whole = [], []

    def words() -> None:
        raw.extend(int(w) for _ in range(300) for w in uniform_bits(rng, 64, bits=64))

    def methods() -> None:
        for _ in range(300):
            whole.extend(rng.integers(2**64, size=64, dtype=np.uint64).tolist())

    threads = [threading.Thread(target=work) for work in (words, methods, words, methods)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = raw + whole
    assert len(set(drawn)) == len(drawn) == 4 * 300 * 64


@pytest.mark.parametrize("make", [voile.secure_rng, lambda: keyed_rng(9)])
@pytest.mark.parametrize(
    "attempt",
    [
        lambda r: copy.copy(r.bit_generator),
        lambda r: copy.deepcopy(r.bit_generator),
        copy.deepcopy,
        pickle.dumps,
        lambda r: pickle.dumps(r.bit_generator),
        lambda r: r.bit_generator.state,
        lambda r: r.bit_generator.__getstate__(),
        lambda r: r.bit_generator.__reduce_ex__(4),
        lambda r: setattr(r.bit_generator, "state", {}),
        lambda r: r.bit_generator.seed(1),
        lambda r: r.bit_generator.jumped(),
        lambda r: r.bit_generator.advance(-1),
        lambda r: r.bit_generator.seed_seq,
        lambda r: r.bit_generator.ctypes,
        lambda r: r.spawn(2),
    ],
)
def test_it_is_neither_copied_nor_read_nor_turned_back(make, attempt):
    with pytest.raises(ForkedGenerator, match=r"must not be copied|must stay"):
        attempt(make())


def test_a_shallow_copy_shares_one_stream():
    """`copy.copy` of a `Generator` is the same bits in another coat: nothing is drawn twice."""
    rng = voile.secure_rng()
    other = copy.copy(rng)
    assert uniform_bits(rng, 2, bits=64).tolist() != uniform_bits(other, 2, bits=64).tolist()


def _drawn(rng) -> list[float]:
    return rng.random(2).tolist()


def test_a_pool_cannot_be_handed_one():
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(ForkedGenerator),
    ):
        pool.map(_drawn, [voile.secure_rng()] * 2)


NARROW = [
    MT19937(3), randomgen.MT19937(3), randomgen.PCG32(3), randomgen.DSFMT(3), randomgen.SFMT(3),
    randomgen.JSF(3, seed_size=1, size=32), randomgen.Philox(3, number=2, width=32),
    randomgen.ThreeFry(3, number=2, width=32), randomgen.AESCounter(3), randomgen.Xoshiro256(3),
]  # fmt: skip


@pytest.mark.parametrize("bits", NARROW, ids=lambda b: type(b).__name__)
def test_generators_that_are_not_known_to_give_whole_words_are_refused(bits):
    with pytest.raises(InvalidInput, match="64 random bits a word, got "):
        uniform_bits(Generator(bits), 1, bits=62)


def test_a_narrow_generator_does_not_release_a_text():
    from voile.text.plain_protector import protector
    from voile.text.vocabularies import vocabulary

    blur = protector(vocabulary(["alice", "bob", "hiv"], [[0.0], [1.0], [2.0]]), epsilon=0.01)
    with pytest.raises(InvalidInput, match="64 random bits a word, got MT19937"):
        blur.release(["Alice HIV"], Generator(MT19937(3)))
    with pytest.raises(InvalidInput, match="64 random bits a word, got RandomState"):
        uniform_bits(np.random.RandomState(3), 1, bits=62)


@pytest.mark.parametrize("kind", [PCG64, PCG64DXSM, SFC64, Philox])
def test_numpys_own_wide_generators_are_welcome(kind):
    words = uniform_bits(Generator(kind(5)), 4096, bits=64)
    high = int((words >> np.uint64(63)).sum())
    assert abs(high - 2048) < 7.5 * 32


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InvalidInput, match="seed must be an integer >= 0"):
        voile.seeded_rng(seed)


@pytest.mark.parametrize("key", [-1, 2**128, 1.0, None])
def test_a_key_has_128_bits(key):
    with pytest.raises(InvalidInput, match="a key must be an integer of 128 bits"):
        keyed_rng(key)
