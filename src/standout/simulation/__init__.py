"""Simulations: instances, many runs, and their results."""

from standout.simulation.instances import Instance, InstanceFamily, parse_instance
from standout.simulation.simulate import MethodResult, Simulation, default_problem, simulate

__all__ = [
    "Instance",
    "InstanceFamily",
    "MethodResult",
    "Simulation",
    "default_problem",
    "parse_instance",
    "simulate",
]
