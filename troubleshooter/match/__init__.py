"""Match: find the entries whose symptoms hold on a log's observations. Every match keeps the lines that prove it."""
