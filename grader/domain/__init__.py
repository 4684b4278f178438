"""The nouns: lessons, tasks, submissions, verdicts, cards. They import nothing else of the grader."""
