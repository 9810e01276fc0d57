"""What a rating page shows and asks, and what one rater has done."""
