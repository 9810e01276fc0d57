"""The report of a study: facts, words, and a page to hand on."""

SAVE_MARK = "<!-- save -->"
"""A server replaces this with a link for saving the report."""
