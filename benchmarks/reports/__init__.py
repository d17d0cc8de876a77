"""Public reports of failed training runs, with settled causes: a yardstick for any tool that reads logs. See README.md."""
