"""How an honest file is tampered with, mechanically.

`code` is what edits are made of, `tests` and `sources` what can be done in any language, a directory for each language
how it is said there, `files` what needs no language, `catalogue` all of it.
"""
