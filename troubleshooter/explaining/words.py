"""The sentences of an explanation: their section of the catalogue. All languages are made from the same parts."""

from kb.text.catalog import Section

say = Section("explain")
