"""What stands around an engine on a board: a serial link, and a self-test that two lights tell of."""
