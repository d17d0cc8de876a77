"""``troubleshoot run -- COMMAND``: a run is watched from outside, its log is kept, and its failure is explained at its end.

Two processes stand beside the run. The *keeper* (`keeper`) starts the command, moves its output into the log and on to
where the user reads it, and does nothing else. The *supervisor* (`supervisor`) passes keys and signals on, looks at the log,
notes the state of the processes, and tells the diagnosis. Each of them goes on where the other one is killed
(docs/decisions/0022).
"""
