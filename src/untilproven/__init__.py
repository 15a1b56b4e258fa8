"""Runs a coding agent until the work is proven done."""

__version__ = "0.1.0"
