"""Do the data look as the guarantee assumes? Each check is a function of the log."""
