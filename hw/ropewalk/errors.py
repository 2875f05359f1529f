"""What Ropewalk says to a person whose input it cannot use."""


class InputError(ValueError):
    """Bad input: one clear sentence that names what was wrong, where, and what would be right.

    The command line prints the sentence on stderr and exits with code 2. Nothing else raises it, so that
    a fault of our own never looks like a fault of the user's.
    """


class BuildError(RuntimeError):
    """A build that failed: one clear sentence that says which step and why. The command line exits with code 1.

    ``log`` is what the tools printed until then.
    """

    def __init__(self, message: str, log: str = ""):
        super().__init__(message)
        self.log = log
