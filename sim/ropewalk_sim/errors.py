"""What Ropewalk says when a run, a build or a comparison failed, though the input was good."""


class EngineError(RuntimeError):
    """An engine could not be built or run, hung, broke the stream protocol, or gave another result than the model.

    The message says which engine, and what was seen. The command line prints it on stderr and exits with code 1.
    """
