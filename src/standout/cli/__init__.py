"""The command line `standout`: one module per command, thin, with heavy imports inside commands."""
