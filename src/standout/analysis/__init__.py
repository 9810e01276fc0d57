"""What can be said about a study or a question beyond the answer: plans, forecasts, checks."""
