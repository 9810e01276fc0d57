"""What happens in a study, as events, and what follows from them: no database, no clock."""
