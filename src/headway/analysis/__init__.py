"""Questions about a sequential program. Answers only; nothing here rewrites."""
