"""The loop driven by your own function: `identify`."""

from standout.driver.identify import identify

__all__ = ["identify"]
