"""The live server: fix pages and a paste box on this machine only. Needs the extra ``[browse]``."""
