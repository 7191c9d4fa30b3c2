"""Whether a Dask scheduler answers, asked before a client is made.

A client of dask.distributed waits for ever for what takes connections and says nothing, and one
that could not connect complains when Python ends.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pfeseg.errors import InvalidInputError, argument

REACHABLE_WITHIN = 10.0
"""Seconds after which a scheduler that does not answer is given up."""


def check_answers(address: str, distributed: Any) -> None:
    """Refuse an address at which no scheduler answers soon."""

    async def shake_hands() -> None:
        secured = distributed.Security().get_connection_args("client")
        comm = await distributed.comm.connect(address, timeout=REACHABLE_WITHIN, **secured)
        await comm.close()

    try:
        asyncio.run(asyncio.wait_for(shake_hands(), REACHABLE_WITHIN))
    except Exception as error:  # whatever a stranger sends, who is no scheduler
        raise no_answer(address) from error


def no_answer(address: Any) -> InvalidInputError:
    """Make the error of an address at which no scheduler answers."""
    return InvalidInputError(
        f"no Dask scheduler answers at {address or 'an empty address'}; start one with "
        f"'dask scheduler', and give the address that it tells to {argument('dask')}"
    )
