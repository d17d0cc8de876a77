"""One module for each language, named by its two-letter code (ISO 639-1).

A module holds:

- ``NAME``: what the language calls itself;
- ``PHRASES``: phrases by section and key, with named placeholders. English has every phrase; what another language lacks
  is said in English;
- ``ENGLISH_NAME`` (optional): what English calls it (default: ``NAME``);
- ``HTML_LANG`` (optional): its tag on web pages where that is not the code;
- ``BETWEEN`` (optional): what stands between two words or sentences, "" in a script without blanks (default: a blank);
- ``EVERY_ENTRY`` (optional): True where each shipped entry must be translated into it (default: False);
- ``plural`` (optional): a function from a count to the ending of the key that is used for it, such as "one" (default:
  one form for all counts).
"""
