"""Settings that every test shares."""

from hypothesis import settings

# The same examples on every machine and every run, and no time limit on a busy machine: a failure is a fault
# of the code, and can be repeated.
settings.register_profile("ropewalk", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("ropewalk")
