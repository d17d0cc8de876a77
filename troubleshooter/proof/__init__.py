"""Fixes asked of the libraries themselves: do the names that they import exist, and are their arguments taken?"""
