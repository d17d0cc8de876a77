"""The live server with fix pages and a paste box, for this machine only. Needs the extra ``[browse]``."""
