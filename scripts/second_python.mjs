// Runs ropewalk_cli.fingerprint in Pyodide: node second_python.mjs PROJECT SITE-PACKAGES (of any CPython; only its pure
// Python packages are used). scripts/second_python calls it.
import { loadPyodide } from "pyodide";

const [project, site] = process.argv.slice(2);
const python = await loadPyodide();
for (const [folder, root] of [["/project", project], ["/site", site]]) {
    python.FS.mkdir(folder);
    python.FS.mount(python.FS.filesystems.NODEFS, { root }, folder);
}
process.exit(python.runPython(`
import sys

sys.dont_write_bytecode = True
sys.path += ["/project/hw", "/project/scripts", "/site"]
for compiled in ("numpy", "gmpy2"):  # what lies there was built for another processor
    sys.modules[compiled] = None
from ropewalk_cli.fingerprint import main

main(["--no-tables", "--check", "/project/tests/data/digests.json"])
`));
