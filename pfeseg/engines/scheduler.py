"""Whether a Dask scheduler answers, asked before a client is made.

A client of dask.distributed waits for ever for what takes connections and says nothing, and one
that could not connect complains when Python ends.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from pfeseg.engines.cluster import REACHABLE_WITHIN
from pfeseg.errors import InvalidInputError, argument


def check_answers(address: str) -> None:
    """Refuse an address at which no scheduler answers soon; ``local:N`` is none.

    Parameters
    ----------
    address : str
        As for `pfeseg.engines.cluster.open_cluster`.
    """
    if address.partition(":")[0] == "local":
        return
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        return  # which is told where the cluster is opened

    async def shake_hands() -> None:
        secured = distributed.Security().get_connection_args("client")
        comm = await distributed.comm.connect(address, timeout=REACHABLE_WITHIN, **secured)
        await comm.close()

    try:
        asyncio.run(asyncio.wait_for(shake_hands(), REACHABLE_WITHIN))
    except Exception as error:  # whatever a stranger sends, who is no scheduler
        raise InvalidInputError(
            f"no Dask scheduler answers at {address or 'an empty address'}; start one with "
            f"'dask scheduler', and give the address that it tells to {argument('dask')}"
        ) from error
