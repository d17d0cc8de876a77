"""Tracebacks: the lines of one stream become exceptions with their frames, whatever the layout and however they were cut.

`normalize` rewrites lines that something else changed (prefixes, wrapped paths, quotes), `parser` walks over them and hands
each traceback to the module of its layout: `python`, `notebook`, `rich_box`, `debugger`; `groups` prepares exception groups.
`frames` recognizes the line of a frame, `messages` the line that names the exception and where its message ends.
"""
