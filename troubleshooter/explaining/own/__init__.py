"""What the user's own files tell of a failure: each module knows one kind of mistake, and improves an explanation that was found."""
