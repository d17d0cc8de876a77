"""The documentation. ``python -m docs.make`` writes the generated pages."""
