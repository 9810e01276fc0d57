"""Who may do what, and how much: what every request passes before it is looked at."""
