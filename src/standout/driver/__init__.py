"""`identify`: the loop with the user's own measuring function."""

from standout.driver.identify import identify

__all__ = ["identify"]
