"""Checks of the guarantee's assumptions; each is a function of the log."""
