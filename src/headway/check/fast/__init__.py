"""The compiled judge: the same verdicts and findings as `headway.check.judge`, for long runs."""
