"""Places in a report that whoever shows it may fill; cheap to import."""

SAVE_MARK = "<!-- save -->"
"""Where a server that shows a report puts the link to keep it; nothing in a file."""
