"""A memory of runs: each is kept in a file of SQLite with its cause, place and versions, and questions are asked of all of them."""
