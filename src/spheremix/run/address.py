"""The address of a language model: whose machine it is, and what would be sent there."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from spheremix.errors import ParameterError

DOCUMENTS, EXCERPT = 5, 300  # typical documents of a group that are sent; characters of each


def check_address(address: Any, *, remote: bool) -> None:
    """Refuse what is no address; and hosts other than this machine, where nobody allowed them."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        host, known = parts.hostname or "", parts.port != 0
    except ValueError:
        parts, host, known = urlsplit(""), "", False
    more = parts.query or parts.fragment or parts.username or parts.password
    plain = host.isascii() and str(address).isprintable() and " " not in str(address)
    if parts.scheme not in {"http", "https"} or not host or not known or not plain or more:
        raise ParameterError(
            "{namer} must be an address, as http://localhost:11434/v1; got {got}", got=repr(address)
        )
    if not remote and not is_here(host):
        raise ParameterError(
            "{namer}: {host} is another machine. It would be sent the words of each group, and "
            "titles and the first {characters} characters of {documents} of its documents",
            remedies=("allow this with {namer_remote=True}", "use a model on this machine"),
            host=host,
            characters=EXCERPT,
            documents=DOCUMENTS,
        )


def is_here(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
