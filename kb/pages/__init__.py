"""Fix pages: entries as HTML, for the live server and for a static site. Needs nothing beyond the base install."""
