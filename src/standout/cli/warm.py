"""`standout warm`."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from standout.cli.console import print_json
from standout.cli.options import Json

NOISES = ("bernoulli", "gaussian:1", "gaussian", "bounded:0,1", "heavy:1")


def warm(
    noise: Annotated[
        list[str] | None,
        typer.Option(help="Only for this noise; repeatable.", show_default="all kinds"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="For this method; repeatable.", show_default="focus"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compile in advance, so that the first run starts at once.

    Each method and each kind of noise has its own code. It is compiled at its
    first use and kept for this version of standout. This command compiles what
    is missing.

    \b
    Examples:
      standout warm
      standout warm --noise bernoulli --method focus --method roai-lucb
    """
    from standout.core.methods import DEFAULT_METHOD, parse_method
    from standout.core.noise import GaussianUnknown, parse_noise
    from standout.driver.warm import warm_up
    from standout.simulation import simulate
    from standout.simulation.instances import FixedFamily, make_instance

    done = []
    for name in method or [DEFAULT_METHOD]:
        chosen = parse_method(name)
        for text in noise or NOISES:
            begin = time.perf_counter()
            law = parse_noise(text)
            warm_up(law, chosen)
            if not isinstance(law, GaussianUnknown):  # simulated as gaussian:S
                family = FixedFamily(make_instance("three arms", [0.1, 0.2, 0.3], law))
                simulate(family, chosen, runs=1, budget=1)
            seconds = time.perf_counter() - begin
            done.append({"method": chosen.label(), "noise": text, "seconds": round(seconds, 1)})
            if not as_json:
                typer.echo(f"{chosen.label():24} {text:14} {seconds:6.1f} s")
    if as_json:
        print_json({"warmed": done})
