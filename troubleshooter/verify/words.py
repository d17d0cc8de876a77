"""What ``troubleshoot verify`` says: its section of the catalogue."""

from __future__ import annotations

from kb.text.catalog import Section

say = Section("verify")
