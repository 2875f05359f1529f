"""The area benchmark: what each configuration takes on each part, how fast it is, and how far off its results are.

Yosys synthesises the Verilog, nextpnr places and routes it out of context with a register at every port; clocks are
the median of some seeds. What was measured before is taken from the cache, so an interrupted run goes on where it
stopped. docs/area.md says what the columns are.
"""

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

import click
from ropewalk.errors import InputError

from .area import store
from .area.chart import draw
from .area.measure import Area, area_to_json, measure
from .area.rivals import rivals
from .area.rows import GROUPS, ROWS, Row, chosen
from .area.tables import COLUMNS, RIVAL_COLUMNS, SEEDS, area_cells, path, rival_cells, shown, whole_part
from .console import progress, show_table


def measured(rows: list[Row], seeds: int, jobs: int) -> Iterator[Area]:
    """Each row as it is done, in any order where several are measured at once; says so on stderr."""
    steps = len(rows) * (1 + seeds)
    with progress("measuring") as step:
        if jobs == 1:
            done = 0

            def advance() -> None:
                nonlocal done
                done += 1
                step(done, steps)

            for number, row in enumerate(rows, 1):
                area = measure(row, seeds, done=advance)
                _told(area, number, len(rows))
                yield area
            return
        # Processes that begin anew: a fork would take along the thread that draws the bar.
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            running = [pool.submit(measure_key, row.key, seeds) for row in rows]
            try:
                for number, future in enumerate(as_completed(running), 1):
                    step(number, len(rows))
                    _told(future.result(), number, len(rows))
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def measure_key(key: str, seeds: int) -> Area:
    """Measure the row of that key: a row itself does not go into another process."""
    return measure(next(row for row in ROWS if row.key == key), seeds)


def _told(area: Area, number: int, of: int) -> None:
    clock = "" if area.clock_mhz is None else f", {area.clock_mhz:.1f} MHz"
    what = f"failed: {area.failed}" if area.failed else f"{area.comb:,} COMB{clock}"
    click.echo(f"{number} of {of}: {area.key}: {what}", err=True)


@click.command(help=__doc__)
@click.argument("words", nargs=-1)
@click.option(
    "--seeds", default=SEEDS, show_default=True, type=click.IntRange(0, 20),
    help="Placements of each row; 0: synthesis alone.",
)  # fmt: skip
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="Rows measured at once.")
@click.option("--opening", is_flag=True, help="Only the rows of the README's table.")
@click.option("--list", "only_list", is_flag=True, help="Only name the rows.")
@click.option("--stored", is_flag=True, help="Measure nothing: show what docs/area.json holds.")
@click.option("--save", is_flag=True, help="Write docs/area.json, and README.md, docs/area.md, docs/area.svg from it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the tables of docs/area.md.")
@click.option("--chart", type=click.Path(path_type=Path), metavar="FILE", help="Draw the chart as FILE.svg or .png.")
def main(
    words: tuple[str, ...],
    seeds: int,
    jobs: int,
    opening: bool,
    only_list: bool,
    stored: bool,
    save: bool,
    as_json: bool,
    as_markdown: bool,
    chart: Path | None,
) -> None:
    """Measure the rows whose part and name contain all WORDS, and print them."""
    rows = chosen(words, opening=opening)
    if not rows:
        raise click.UsageError(f"no row has {' and '.join(words)} in its name; --list names them")
    if chart is not None and chart.suffix not in (".svg", ".png"):
        raise click.UsageError(f"--chart: {chart} must end with .svg or .png")
    if only_list:
        for row in rows:
            click.echo(row.key)
        return
    try:
        kept = store.load()
        if stored:
            keys = {row.key for row in rows}
            areas = [area for area in kept if area.key in keys]
        else:
            areas = []
            for area in measured(rows, seeds, jobs):
                areas.append(area)
                if save:  # at once: what was measured stays, whatever comes, beside what others have stored meanwhile
                    kept = store.merged(store.load(), [area])
                    store.results_path().write_text(store.results_text(kept), encoding="utf-8")
            areas = store.merged([], areas)
        if save:
            for file in store.save(kept):
                click.echo(f"written: {file}", err=True)
    except InputError as error:
        raise click.ClickException(str(error)) from None
    if chart is not None:
        draw(areas, rivals(), chart, note=store.digest(areas))
    if as_json:
        others = [asdict(rival) | {"megapairs_per_second": rival.megapairs} for rival in rivals()]
        click.echo(json.dumps({"rows": [area_to_json(area) for area in areas], "rivals": others}, indent=1))
    elif as_markdown:
        click.echo(whole_part(areas, rivals()), nl=False)
    else:
        _show(areas)


def _show(areas: list[Area]) -> None:
    for group in GROUPS:
        cells = [area_cells(area) for area in areas if area.group == group]
        if cells:
            click.echo(f"{group}:")
            show_table(shown(COLUMNS, cells))
    click.echo("rivals:")
    show_table(shown(RIVAL_COLUMNS, [rival_cells(rival) for rival in rivals()]))
    for area in areas:
        if area.critical_path:
            click.echo(f"{area.key}: slowest path of {len(area.clocks)} seeds: {path(area)}")


if __name__ == "__main__":
    main()
