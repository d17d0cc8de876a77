"""The base of every error that a user can mend."""


class TroubleshootError(Exception):
    """Bad input, a bad setting or a missing piece: its text is one clear sentence with the place and the next step.

    The command line prints the text and ends with ``exit_status``. Anything else that is raised is a bug.
    """

    exit_status = 2


class UsageError(TroubleshootError):
    """Something that was asked for on the command line does not exist, or contradicts another option."""


class NoEntries(TroubleshootError, FileNotFoundError):
    """A folder of entries that does not exist, or an installation without entries."""
