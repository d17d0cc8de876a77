"""Make tables from the libraries themselves: which arguments, names and attributes came and went, and in which release.

Run again (network and about twenty minutes for everything, less with a kept cache)::

    python -m kb.tables api --cache ~/.cache/tables                 # every package of `plan.PACKAGES`
    python -m kb.tables api trl peft --versions 0.15.2,0.16.0       # some packages, some releases
    python -m kb.tables api --offline --cache ~/.cache/tables       # no network: what the cache holds
    python -m kb.tables members --cache ~/.cache/tables             # attributes of classes
    python -m kb.tables imports --cache ~/.cache/tables             # pairs of packages that do not import together

Archives come through ``pip download`` and are read with ``ast``; nothing is imported or executed.  What a release
offers (its *surface*) is kept in the cache, the archive is deleted.  The output is sorted and depends only on the
releases that were scanned, so a second run over the same releases writes the same bytes.
"""
