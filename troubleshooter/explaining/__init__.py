"""Failures that no entry diagnoses, explained by the source of what raised them. Loaded only when something is to be explained."""
