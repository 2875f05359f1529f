"""The ``ropewalk`` command: its sub-commands, and what it does with everything that goes wrong.

Exit codes: 0 done; 1 a comparison, build or run failed; 2 bad input. A person never sees a traceback, unless
``ROPEWALK_DEBUG=1`` asks for it.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

import click
from amaranth.hdl import UnusedElaboratable
from ropewalk import __version__
from ropewalk.errors import BuildError, InputError
from ropewalk_sim.errors import EngineError

from .board import board
from .build import build
from .compare import compare
from .console import complain
from .digest import digest
from .generate import generate
from .geometry import geometry
from .llm import llm
from .models import models
from .run import run
from .verify import verify

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes; 130 is what a shell reports for a command that Ctrl-C ended."""

EPILOG = """\b
Examples:
  ropewalk models
  ropewalk geometry gemma-3-270m
  ropewalk generate gemma-3-270m -o engine
  ropewalk run engine --input x.npz --output y.npz
  ropewalk verify engine
  ropewalk build engine --part LFE5U-85F-6 --out-of-context
  ropewalk llm gemma-3-270m --prompt "What is the capital of France?"
"""


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EPILOG,
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="ropewalk", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Positional encoding for transformer accelerators.

    Ropewalk reads the configuration of a real model (its config.json) and generates the Verilog of its positional
    encoding (rotary, ALiBi, learned or sinusoidal), together with a fixed-point model that agrees in every bit.

    The usual order: `geometry` shows what a configuration means, `generate` writes a unit into a folder, `run`
    streams your arrays through it, `verify` compares all simulators and measures the error, `build` tells what it
    takes on a real part and how fast it is, and `llm` what a real language model makes of it. `models` lists the
    models that come along; `digest` and `compare` tell whether two of anything have the same geometry.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (models, geometry, generate, run, verify, build, board, llm, digest, compare):
    cli.add_command(command)


def call(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command line (``sys.argv`` by default) and give its exit code."""
    try:
        code = cli.main(args=arguments, prog_name="ropewalk", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "ropewalk"
        complain(f"{error.format_message().rstrip('.')} ('{where} --help' explains the command).")
        return BAD_INPUT
    except InputError as error:
        complain(str(error))
        return BAD_INPUT
    except (BuildError, EngineError) as error:
        complain(str(error))
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted; nothing was left behind.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`| head`): no fault of anybody's. Python must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except MemoryError:
        complain("there is not enough memory for this.")
        return FAILED
    except Exception as error:
        if os.environ.get("ROPEWALK_DEBUG"):
            traceback.print_exc()
        complain(
            f"this is a fault in Ropewalk itself ({type(error).__name__}: {error}); please report it, with the "
            f"command and what ROPEWALK_DEBUG=1 in its environment adds to the output."
        )
        return FAILED
    return code if isinstance(code, int) else DONE


def main() -> None:
    """Entry point of the console script."""
    # When gateware is refused half made, Amaranth warns of every component that was made and not used. That is for
    # whoever writes gateware, not for the person whose input was refused.
    warnings.simplefilter("ignore", UnusedElaboratable)
    sys.exit(call())


if __name__ == "__main__":
    main()
