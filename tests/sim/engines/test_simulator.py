"""The public simulator against the model: every layout of elements, any head counts, threads, pieces, and refusals."""

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_sim import Simulator, simulator
from ropewalk_sim.beats import StreamInput
from ropewalk_sim.engines.model import ModelEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream import pack_run, unpack_run

TOKENS = 40


def arrays_for(design, tokens=TOKENS, seed=1):
    """Words, positions on both sides of the limits, slots (an empty one among them) and directions at random."""
    random = np.random.default_rng(seed)
    head_dim, (queries, keys, values) = design.geometry.head_dim, design.heads

    def words(heads):
        return random.integers(design.data.minimum, design.data.maximum + 1, (tokens, heads, head_dim))

    given = {"q": words(queries), "k": words(keys)} | ({"v": words(values)} if values else {})
    position = random.integers(0, 2 * min(design.limits), tokens) & 0xFFFFFF
    inverse = random.integers(0, 2, tokens)
    return given | {"position": position, "variant": random.integers(0, 3, tokens), "inverse": inverse}


def by_the_model(folder, arrays):
    engine = ModelEngine(folder)
    packed = pack_run(engine.design, arrays)
    return unpack_run(packed, engine.run(packed.stream, script=packed.script))


def assert_same(result, expected):
    for name in ("q", "k", "v"):
        found = getattr(result, name)
        assert (found is None) == (name not in expected)
        if found is not None:
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, expected[name])
    np.testing.assert_array_equal(result.error, expected["error"].astype(bool))


@pytest.mark.parametrize(
    "name", ["one-lane", "two-lanes-partial", "table-four-lanes", "half-odd-values", "interleaved-to-half", "paired"]
)
def test_it_gives_what_the_model_gives(name, design_folder):
    folder = design_folder(name)
    simulator = Simulator(folder)
    arrays = arrays_for(simulator.design)
    result = simulator.run(**arrays)
    assert_same(result, by_the_model(folder, arrays))
    assert 0 < result.error.sum() < TOKENS
    assert result.beats == TOKENS * simulator.design.beats_per_token
    assert result.clocks >= result.beats and result.seconds > 0
    assert result.beats_per_second == result.beats / result.seconds


@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_and_threads_change_nothing(threads, design_folder, monkeypatch):
    folder = design_folder("interleaved-to-half")
    whole = by_the_model(folder, arrays_for(Simulator(folder).design))
    monkeypatch.setattr(simulator, "PIECE_BEATS", 50)
    pieces = []
    told = []
    one = Simulator(folder, threads=threads)
    run_beats = one._engine.run_beats

    def counted(sent, **rest):
        pieces.append(len(sent.words))
        return run_beats(sent, **rest)

    monkeypatch.setattr(one._engine, "run_beats", counted)
    result = one.run(**arrays_for(one.design), progress=lambda done, of: told.append((done, of)))
    assert_same(result, whole)
    assert len(pieces) > 3 and max(pieces) <= 50 + one.design.beats_per_token
    assert told[-1] == (result.beats, result.beats)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("threads", [1, 2])
def test_independent_streams_come_back_in_order(threads, design_folder):
    folder = design_folder("half-odd-values")
    simulator = Simulator(folder, threads=threads)
    inputs = [arrays_for(simulator.design, tokens, seed) for seed, tokens in enumerate((30, 1, 0, 7, 12))]
    results = simulator.run_many(inputs)
    assert len(results) == 5 and results[2].beats == 0
    for result, arrays in zip(results, inputs, strict=True):
        assert_same(result, by_the_model(folder, arrays))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stream_takes_no_more_inputs_than_it_needs(threads, design_folder):
    one = Simulator(design_folder("one-lane"), threads=threads)
    taken = []

    def endless():
        while True:
            taken.append(len(taken))
            yield arrays_for(one.design, 3, taken[-1])

    stream = one.stream(endless())
    for _ in range(4):
        next(stream)
    stream.close()
    assert len(taken) <= 4 + threads


def test_any_number_of_heads_of_each_kind(design_folder):
    """Queries alone, keys alone, five heads: an engine rotates them as it does those of its own counts."""
    folder = design_folder("interleaved-to-half")
    one = Simulator(folder)
    design = one.design
    arrays = arrays_for(design)
    wanted = by_the_model(folder, arrays)
    rest = {name: arrays[name] for name in ("position", "variant", "inverse")}
    assert_same(one.run(q=arrays["q"], **rest), {name: wanted[name] for name in ("q", "error")})
    assert_same(one.run(k=arrays["k"], **rest), {name: wanted[name] for name in ("k", "error")})
    five = np.concatenate([arrays["q"], arrays["k"], arrays["q"]], axis=1)
    turned = one.run(q=five, **rest).q
    np.testing.assert_array_equal(turned, np.concatenate([wanted["q"], wanted["k"], wanted["q"]], axis=1))
    values = one.run(v=arrays["v"], **rest)
    np.testing.assert_array_equal(values.v, arrays["v"])


def test_one_variant_and_one_direction_for_all(design_folder):
    folder = design_folder("four-lanes")
    one = Simulator(folder)
    arrays = {name: array for name, array in arrays_for(one.design).items() if name in ("q", "k", "position")}
    full = arrays | {"variant": np.full(TOKENS, "loud"), "inverse": np.ones(TOKENS, bool)}
    assert_same(one.run(**arrays, variant="loud", inverse=True), by_the_model(folder, full))
    assert_same(one.run(**arrays, variant=1, inverse=1), by_the_model(folder, full))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.uint64])
def test_every_integer_type(kind, design_folder):
    folder = design_folder("two-lanes-partial")
    one = Simulator(folder)
    arrays = arrays_for(one.design)
    arrays |= {name: (arrays[name] & 0x7F).astype(kind) for name in "qkv"}
    assert_same(one.run(**arrays), by_the_model(folder, {**arrays, **{n: arrays[n].astype(np.int64) for n in "qkv"}}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros((TOKENS, 2, 16))}, r"q must hold integers, the words of 16 bits, not float64: .*quantise"),
        ({"k": np.full((TOKENS, 1, 16), 1 << 15)}, r"k\[0, 0, 0\] is 32768, and a word of 16 bits lies in -32768 .. 3"),
        ({"k": np.full((TOKENS, 1, 16), 1 << 63, np.uint64)}, r"k\[0, 0, 0\] is 9223372036854775808"),
        ({"q": np.zeros((TOKENS, 2, 8), int)}, r"q has the shape \[40, 2, 8\], and .* wants \[40, any, 16\]"),
        ({"q": np.zeros((3, 2, 16), int)}, r"q has the shape \[3, 2, 16\]"),
        ({"q": np.zeros((TOKENS, 300, 16), int)}, r"from 0 to 255 heads .*, not 300 query, 1 key and 0 value heads"),
        ({"q": None, "k": None}, r"at least one in all, not 0 query"),
        ({"position": np.full(TOKENS, 1 << 24)}, r"position\[0\] is 16777216"),
        ({"position": np.zeros((TOKENS, 2), int)}, r"position has the shape"),
        ({"variant": "quiet"}, r"variant 'quiet' is not known; the design has: plain, loud"),
        ({"inverse": 2}, r"inverse\[0\] is 2"),
    ],
)
def test_what_does_not_fit_is_refused(change, message, design_folder):
    one = Simulator(design_folder("four-lanes"))
    with pytest.raises(InputError, match=message):
        one.run(**arrays_for(one.design) | change)


def test_an_engine_without_registers_takes_its_own_heads(design_folder):
    folder = design_folder("no-registers")
    one = Simulator(folder)
    arrays = arrays_for(one.design)
    assert_same(one.run(**arrays), by_the_model(folder, arrays))
    with pytest.raises(InputError, match=r"2 query, 1 key and 1 value heads, not 2, 1 and 0: it was made without reg"):
        one.run(**{name: array for name, array in arrays.items() if name != "v"})


@pytest.mark.parametrize("threads", [0, 257, True, 1.0])
def test_a_number_of_threads_that_is_none(threads, design_folder):
    with pytest.raises(InputError, match="threads must be from 1 to 256"):
        Simulator(design_folder("one-lane"), threads=threads)


def test_a_folder_without_an_engine(tmp_path):
    with pytest.raises(InputError, match=r"design\.json"):
        Simulator(tmp_path)


def test_a_lost_beat_is_noticed(design_folder, monkeypatch):
    one = Simulator(design_folder("one-lane"))
    run_beats = one._engine.run_beats

    def lossy(sent, **rest):
        came = run_beats(sent, **rest)
        return came._replace(words=came.words[:-1])

    monkeypatch.setattr(one._engine, "run_beats", lossy)
    with pytest.raises(EngineError, match="beats went in and"):
        one.run(**arrays_for(one.design))


def test_it_is_what_the_engine_of_run_gives(design_folder):
    """Not only the arithmetic: the streams that it packs are those of ``ropewalk run``."""
    one = Simulator(design_folder("half-odd-values"))
    arrays = arrays_for(one.design)
    stream: StreamInput = pack_run(one.design, arrays).stream
    job = simulator.token_words(one.design, **arrays)
    beats = job.pack(slice(0, job.tokens))
    np.testing.assert_array_equal(beats.descriptors, stream.descriptors)
    np.testing.assert_array_equal(beats.tid, stream.tid)
    np.testing.assert_array_equal(beats.last.astype(bool), stream.last)
