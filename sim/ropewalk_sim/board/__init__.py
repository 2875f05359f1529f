"""The host's side of a board: the frames of its serial link, and what is asked of it."""
