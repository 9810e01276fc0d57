"""Instances: the hidden truth of a simulation, built in or read from a table."""

from standout.simulation.instances.base import (
    FixedFamily,
    Instance,
    InstanceFamily,
    NumberedArms,
    make_instance,
)
from standout.simulation.instances.parse import BUILTINS, parse_instance

__all__ = [
    "BUILTINS",
    "FixedFamily",
    "Instance",
    "InstanceFamily",
    "NumberedArms",
    "make_instance",
    "parse_instance",
]
