"""The planner: asks the row source for the rows that tokens need and tells the framer what becomes of their data.

What is decided in a clock is little: whether the next token is passed on. All that is known of it follows in queues of
its own.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .capacity import token_places
from .component import Component
from .credits import Credits
from .layouts import bank_bits, context_layout, heads_layout, request_layout, row_layout, token_layout
from .pipeline import delayed
from .queue import Queue
from .relay import Relay


class RowPlanner(Component):
    """Splits a token into a row request, where it needs a new row, and a context for the framer.

    Rows are made in the order in which they are asked for, each in the bank after that of the one before. A row is
    asked for only when its bank is free: when the row that was there has been made and has been let go of by the
    reader.

    Latency :attr:`latency` clocks to a request, and :attr:`tag_latency` to a tag; a token per clock.

    Members
    -------
    valid, token : In
        Checked tokens, no more than :attr:`places` that have not left.
    request, row : Out stream
        Rows to make: how many pairs they have, and the rest of it, which is there a clock later.
    tag, heads, context : Out stream
        Tokens to frame: their tags, their heads, and the rest of it. The latter two are there no later than the tag.
    made, released : In
        A row has been made; the reader has let go of one.
    begun : Out
        A row was asked for.
    passed : Out
        A token was passed on in the clock before, and its row, if it takes a new one, asked for.
    """

    latency = Queue.latency
    tag_latency = latency + 1 + Queue.latency + Relay.latency

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "valid": In(1),
                "token": In(token_layout(design)),
                "request": Out(stream.Signature(request_layout(design))),
                "row": Out(stream.Signature(row_layout(design))),
                "tag": Out(stream.Signature(8)),
                "heads": Out(stream.Signature(heads_layout())),
                "context": Out(stream.Signature(context_layout(design))),
                "made": In(1),
                "released": In(1),
                "begun": Out(1),
                "passed": Out(1),
            }
        )

    @property
    def places(self) -> int:
        """Tokens that there is room for."""
        return token_places(self._design)

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        token = self.token

        # A token that takes no new row has that of the one before.
        bank = Signal(bank_bits(design), init=-1)
        context = Signal(context_layout(design))
        m.d.comb += [context.eq(token.context), context.bank.eq(bank + token.new_row)]
        with m.If(self.valid):
            m.d.sync += bank.eq(context.bank)

        waiting = self._queue(m, "waiting", {"new_row": 1, "request": request_layout(design)}, write=self.valid)
        # In the clock after a row is asked for it is looked at.
        with_row = Signal()
        m.d.sync += with_row.eq(self.valid & token.new_row)
        rows = self._queue(m, "rows", {"row": row_layout(design)}, write=with_row)
        tags = self._queue(m, "tags", {"tag": 8}, write=self.valid, offer=self.passed)
        heads = self._queue(m, "heads", {"heads": heads_layout()}, write=self.valid, offer=self.passed)
        contexts = self._queue(m, "contexts", {"context": context_layout(design)}, write=self.valid, offer=self.passed)
        m.submodules.relay = relay = Relay(8)
        m.d.comb += [
            waiting.in_new_row.eq(token.new_row),
            waiting.in_request.pairs.eq(token.pairs),
            waiting.in_request.single.eq(token.pairs == 1),
            rows.in_row.eq(delayed(m, token.row, 1, name="row")),
            tags.in_tag.eq(token.tag),
            heads.in_heads.eq(token.heads),
            contexts.in_context.eq(context),
            self.row.payload.eq(rows.output.payload.row),
            self.heads.payload.eq(heads.output.payload.heads),
            self.context.payload.eq(contexts.output.payload.context),
            relay.arrival.payload.eq(tags.output.payload.tag),
        ]
        connect(m, relay.output, wiring.flipped(self.tag))
        for queue, output in (
            (rows, self.row), (heads, self.heads), (contexts, self.context), (tags, relay.arrival)
        ):  # fmt: skip
            m.d.comb += [output.valid.eq(queue.output.valid), queue.output.ready.eq(output.ready)]

        # The reader holds one row from the start: none that there is.
        m.submodules.unread = unread = Credits(design.row_banks - 1)
        m.submodules.unmade = unmade = Credits(design.row_banks)
        next_token = waiting.output
        bank_free = Signal()
        possible = Signal()
        # Whether a row is begun is known late: synthesis is to leave these two as they are.
        free_if = [Signal(name=f"bank_free_{case}", attrs={"keep": 1}) for case in ("not", "begun")]
        m.d.comb += [
            free_if[0].eq(unread.free_if_not & unmade.free_if_not),
            free_if[1].eq(unread.free_if_taken & unmade.free_if_taken),
        ]
        m.d.sync += bank_free.eq(Mux(self.begun, free_if[1], free_if[0]))
        m.d.comb += [
            possible.eq(~next_token.payload.new_row | (bank_free & self.request.ready)),
            self.request.payload.eq(next_token.payload.request),
            self.request.valid.eq(next_token.valid & next_token.payload.new_row & bank_free),
            self.begun.eq(self.request.valid & self.request.ready),
            next_token.ready.eq(possible),
            unread.take.eq(self.begun),
            unread.give.eq(self.released),
            unmade.take.eq(self.begun),
            unmade.give.eq(self.made),
        ]
        # It is on its way to more than one place.
        m.d.sync += self.passed.eq(next_token.valid & possible)
        return m

    def _queue(self, m: Module, name: str, parts: dict, *, write, offer=None) -> Queue:
        """A queue for as many tokens as there is room for."""
        queue = Queue({part: (shape, self.places) for part, shape in parts.items()})
        m.submodules[name] = queue
        m.d.comb += [
            *(getattr(queue, f"write_{part}").eq(write) for part in parts),
            queue.offer.eq(write if offer is None else offer),
        ]
        return queue
