"""The tables that are only added to: rewards, failures, steps and trace."""
