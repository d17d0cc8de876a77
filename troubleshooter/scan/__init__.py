"""Scan: many logs at once. Jobs are found, diagnosed on all cores, recorded as they are done, and summed up."""
