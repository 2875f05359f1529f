"""What a soak does to an engine, decided at random: tokens, packets, pauses, register accesses, and how it ends.

A soak is a row of *stretches*, each of which ends with a reset or a flush. Stretch n of a seed is the same in every
simulator. Nothing here looks at the engine; what depends on it (how long a packet must be) is asked for by the bench.
"""

import random
from collections.abc import Iterator
from typing import Any

EDGES = (0, 1, 2, 1 << 24, (1 << 31) + 1, (1 << 32) - 1)
ENDS = ("aresetn", "soft reset", "flush")
CHANNELS = ("token", "data", "output", "aw", "w", "b", "ar", "r")
"""The interfaces that pause: three streams, and the five channels of the register port."""

LONGEST_PAUSE = 40
POOL_BEATS = 1 << 15


def pool(seed: int, elements: int, container_bits: int, data_width: int) -> list[int]:
    """Random beats to cut packets from: a third of the elements at the ends of the word, noise above the word."""
    generator = random.Random(f"{seed} pool")
    most = (1 << data_width - 1) - 1
    ends = (most, -most - 1, -most, 0, -1)
    beats = []
    for _ in range(POOL_BEATS):
        beat = 0
        for place in range(elements):
            word = generator.choice(ends) if generator.random() < 0.3 else generator.getrandbits(data_width)
            noise = generator.getrandbits(container_bits) << data_width
            container = (word & (1 << data_width) - 1 | noise) & (1 << container_bits) - 1
            beat |= container << place * container_bits
        beats.append(beat)
    return beats


class Stretch:
    """Stretch ``number`` of the soak ``seed``.

    ``job`` has ``limits``, those of all contents, ``words``, what loads them, ``slots``, ``loaded_slots`` and ``axes``.

    Attributes
    ----------
    ahead
        Whether all packets are offered from the start, for unchanging head counts. Else head counts are written while
        the engine streams, and a token's packet follows when its descriptor has been taken.
    end, moment
        How it ends, and in which of its clocks at the latest: once nothing moves any more it ends at once.
    keep
        After a soft reset or a flush, what is still to be offered stays, and is offered to the emptied engine.
    """

    def __init__(self, seed: int, number: int, job: dict[str, Any], *, kept: "Stretch | None" = None) -> None:
        self.generator = generator = random.Random(f"{seed} {number}")
        self.job = job
        self.tokens = generator.choice([20, 200, 400])
        self.end = generator.choice(ENDS)
        self.moment = generator.choice([generator.randrange(2, 400), generator.randrange(2, 4000), 1 << 40])
        self.ahead = kept.ahead if kept else generator.random() < 0.4
        self.tagged = kept.tagged if kept else generator.random() < 0.85
        self.faults = generator.choice([0.0, 0.1, 0.4])
        self.keep = self.end != "aresetn" and generator.random() < 0.5
        self.reset_clocks = generator.randrange(1, 6)
        shares = [0.0, 0.1, 0.2, 0.5]
        self.pauses = {
            name: (generator.choice(shares), generator.choice([1, 1, 4, 20])) for name in CHANNELS
        }  # fmt: skip
        self.first_tag = generator.randrange(256)

    def descriptors(self) -> list[int]:
        """The words of each descriptor as one number."""
        generator, job = self.generator, self.job
        slots = [*range(job["loaded_slots"])] * 8 + [job["loaded_slots"], job["slots"], 255]
        found = []
        slot = flags = 0
        position = [0] * job["axes"]
        for number in range(self.tokens):
            if not number or generator.random() > 0.2:  # else like the one before, which reuses its row
                slot = generator.choice(slots)
                flags = generator.choice([0, 0, 0, generator.getrandbits(8)])
                limit = generator.choice(job["limits"])
                position = [self._position(limit) for _ in position]
            elif job["axes"] > 1 and generator.random() < 0.5:
                position = position.copy()
                position[generator.randrange(job["axes"])] ^= 1
            tag = (self.first_tag + number) & 255 if self.tagged else 0
            word = slot | flags << 8 | tag << 16 | generator.getrandbits(8) << 24
            for axis, place in enumerate(position):
                word |= place << 32 * (1 + axis)
            found.append(word)
        return found

    def _position(self, limit: int) -> int:
        kind = self.generator.random()
        if kind < 0.95:
            return self.generator.randrange(min(limit, self.generator.choice([*[20] * 12, 300, 1 << 24])))
        return self.generator.choice([limit - 1, limit, limit + 1, *EDGES])

    def packet(self, tag: int, beats: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Where the beats of a packet are in the pool (start and number), and its TIDs; TLAST stands on its last beat.

        ``beats`` are those of a sound one. A packet with strays that have TLAST themselves comes in several parts.
        """
        generator = self.generator
        if generator.random() >= self.faults:
            return [tag] * beats, [(generator.randrange(POOL_BEATS - beats), beats)]
        length = generator.choice([beats, beats, 1, max(1, beats - 1), generator.randrange(1, beats + 1), beats + 1,
                                   beats + generator.randrange(1, 40)])  # fmt: skip
        tids = [tag] * min(length, beats) + [generator.getrandbits(8) for _ in range(length - beats)]
        cuts = []
        if self.tagged and generator.random() < 0.5:
            for _ in range(generator.choice([1, 1, 5])):
                place = generator.randrange(len(tids))
                tids.insert(place, tag ^ generator.randrange(1, 256))
                if generator.random() < 0.3:
                    cuts = [place + 1]
        parts = []
        for first, stop in zip([0, *cuts], [*cuts, len(tids)], strict=True):
            if stop > first:
                parts.append((generator.randrange(POOL_BEATS - 512), stop - first))
        return tids, parts

    def host(self) -> Iterator[tuple[str, int, int]]:
        """What the host does for ever: ``("rest", clocks, 0)``, ``("write", register, word)`` and so on.

        The other orders are ``("idle", 0, 0)``: wait until a load may begin; ``("crc", slot, 0)``: wait until the CRC
        of a slot is known and read it; ``("read", register, 0)``. Registers are named by what :mod:`.bench` looks up.
        """
        generator, job = self.generator, self.job
        own = random.Random(generator.getrandbits(64))
        while True:
            yield "rest", own.choice([0, 20, own.randrange(800)]), 0
            kind = own.random()
            if kind < 0.5:
                yield from self._load(own)
            elif kind < 0.65 and not self.ahead:
                for _ in range(own.randrange(1, 4)):
                    yield "write", own.choice(job["head_registers"]), own.randrange(3)
            elif kind < 0.85:
                register = own.choice(job["offset_registers"])
                if own.random() < 0.3:  # for a short while, as most positions are out of range with it
                    yield "write", register, own.choice([-1, 17, -300, own.getrandbits(32)]) & 0xFFFFFFFF
                    yield "rest", own.randrange(60), 0
                yield "write", register, own.choice([0, 0, 1, 5])
            else:
                yield "read", own.choice(job["read_registers"]), 0

    def _load(self, own: random.Random) -> Iterator[tuple[str, int, int]]:
        job = self.job
        slot = own.randrange(job["loaded_slots"])
        words = list(own.choice(job["words"]))
        bad = own.random()
        if own.random() < 0.9:
            yield "idle", 0, 0
        yield "write", job["load_begin"], slot if bad > 0.02 else job["slots"] + own.randrange(200)
        if bad < 0.05:
            words.pop()
        elif bad < 0.08:
            words.append(0)
        elif bad < 0.12:
            words[own.choice([2, 3])] = 0
        elif bad < 0.16:
            del words[own.randrange(len(words)) :]
        for word in words:
            yield "write", job["load_data"], word
        if bad < 0.12 or bad > 0.16:
            yield "rest", own.choice([0, 0, own.randrange(100)]), 0
            yield "write", job["load_commit"], own.getrandbits(32)
            if own.random() < 0.5:
                yield "crc", own.choice([slot, own.randrange(job["slots"])]), 0
