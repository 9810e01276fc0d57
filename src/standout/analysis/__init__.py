"""Results beyond the answer: analyses of past data, plans, forecasts, checks."""
