"""The rating page: one item at a time, for people without a login."""
