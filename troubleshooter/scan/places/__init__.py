"""Places: where the logs of a scan lie when they are no files of this machine. Object stores, SFTP servers and archives.

A file of a place has one name, which the record keeps: its URL, or ``ARCHIVE!/PATH`` for a file in an archive. Nothing of
this package is imported for local files, and each place imports its own library only when it is opened.
"""
