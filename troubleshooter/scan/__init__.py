"""Scan many logs: find the jobs, diagnose them on all cores, record each result at once, and sum up."""
