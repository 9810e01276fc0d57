"""The rating page: one item at a time, for raters without a login."""
