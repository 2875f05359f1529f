"""Reading a configuration that a test makes up."""

import json

import pytest
from ropewalk.models import read_model


@pytest.fixture
def read(tmp_path):
    """A function that writes a configuration and reads it; keyword arguments are those of ``read_model``."""

    def read(config, **arguments):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return read_model(str(path), **arguments)

    return read
