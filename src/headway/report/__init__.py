"""What a person looks at: where the time of a run goes, as a table and as a page."""
