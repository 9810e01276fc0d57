"""The report of a study: facts, words, and a page to hand on."""

SAVE_MARK = "<!-- save -->"
"""Where a server that shows a report puts the link to keep it; nothing in a file."""
