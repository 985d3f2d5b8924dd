"""The command ``spheremix``: one file a command."""

from __future__ import annotations
