"""Large logs: which excerpts of them are read line by line. Logs of up to `blocks.BLOCK_BYTES` never come here."""
