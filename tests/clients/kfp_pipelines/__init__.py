"""Pipelines that are written with the SDK, each with what its definition says about its end."""
from . import artifacts, corners, flow, parameters, platform  # noqa: F401 (each fills the table)
from .table import cases  # noqa: F401
