"""The events of a study, and the state that follows from them: no database, no clock."""
