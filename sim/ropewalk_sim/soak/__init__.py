"""The soak: an emitted engine under cocotbext-axi for as long as one likes, every beat compared with the model.

:mod:`.layouts` are the engines, :mod:`.plan` decides at random what is done to one, :mod:`.bench` does it inside the
simulator and writes down what it sees, :mod:`.history`, :mod:`.expect` and :mod:`.check` say what should have been
seen, and :mod:`.run` starts a simulator and checks its notes while it goes on.
"""
