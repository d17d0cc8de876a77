"""Watch: logs that appear and grow, each failure told once, to a terminal, a file and a webhook."""
