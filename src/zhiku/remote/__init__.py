"""The only door to a network: requests to the model endpoints that the user configured."""

from zhiku.remote.client import INDEXING, SEARCHING, Client, Patience
from zhiku.remote.endpoint import Endpoint, address_of
from zhiku.remote.record import Call, Load, Record, Usage
from zhiku.remote.replies import detail_of, status_of

__all__ = [
    "INDEXING",
    "SEARCHING",
    "Call",
    "Client",
    "Endpoint",
    "Load",
    "Patience",
    "Record",
    "Usage",
    "address_of",
    "detail_of",
    "status_of",
]
