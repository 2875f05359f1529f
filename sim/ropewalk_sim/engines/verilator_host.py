"""The register port's user in the ``verilator`` engine: the arrays and the struct that ``register_port.h`` works on."""

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Access, Answer

_ACCESS = np.dtype(
    [
        *((name, "<u4") for name in ("address", "value", "mask", "answer")),
        *((name, "<i4") for name in ("kind", "strobes", "response", "padding")),
        *((name, "<i8") for name in ("start", "clock")),
    ]
)
_READ, _WRITE, _POLL = range(3)


class Host(ctypes.Structure):
    """The struct Host."""

    _fields_ = (
        ("accesses", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("count", "before", "done")),
        *((name, ctypes.c_uint64) for name in ("random", "stall")),
        *((name, ctypes.c_int64) for name in ("waited", "polls", "most_polls", "silence_limit")),
        *((name, ctypes.c_int32) for name in ("active", "address", "data", "held")),
        ("held_answer", ctypes.c_uint32),
        ("held_response", ctypes.c_int32),
    )


def access_table(accesses: Sequence[Access]) -> NDArray[np.void]:
    """Accesses as the library reads and answers them; one more, so that there is always a first."""
    table = np.zeros(len(accesses) + 1, _ACCESS)
    for row, access in zip(table, accesses, strict=False):
        row["address"], row["strobes"], row["mask"], row["start"] = (
            access.address, access.strobes, access.mask, access.start
        )  # fmt: skip
        row["kind"] = _WRITE if access.write is not None else _POLL if access.mask else _READ
        row["value"] = access.write if access.write is not None else access.until
    return table


def host_of(table: NDArray[np.void], before: int, seed: int, stall: float) -> Host:
    """A host that will carry out the accesses of ``table``, ``before`` of them before the streams begin."""
    return Host(
        accesses=table.ctypes.data,
        count=len(table) - 1,
        before=before,
        random=seed,
        stall=int(stall * 2**32),
        most_polls=MOST_POLLS,
        silence_limit=SILENCE_CLOCKS,
    )


def answers_of(table: NDArray[np.void], done: int) -> tuple[Answer, ...]:
    """The answers to the first ``done`` accesses."""
    return tuple(Answer(int(one["answer"]), int(one["response"]), int(one["clock"])) for one in table[:done])
