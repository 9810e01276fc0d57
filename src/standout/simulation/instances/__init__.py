"""Instances: the hidden truth of a simulation, built in or read from a table."""

from standout.simulation.instances.base import FixedFamily as FixedFamily
from standout.simulation.instances.base import Instance as Instance
from standout.simulation.instances.base import InstanceFamily as InstanceFamily
from standout.simulation.instances.base import NumberedArms as NumberedArms
from standout.simulation.instances.base import make_instance as make_instance
from standout.simulation.instances.parse import BUILTINS as BUILTINS
from standout.simulation.instances.parse import parse_instance as parse_instance
