"""Simulations: instances, many runs, and their results."""

from standout.simulation.instances import Instance as Instance
from standout.simulation.instances import InstanceFamily as InstanceFamily
from standout.simulation.instances import parse_instance as parse_instance
from standout.simulation.simulate import MethodResult as MethodResult
from standout.simulation.simulate import Simulation as Simulation
from standout.simulation.simulate import default_problem as default_problem
from standout.simulation.simulate import simulate as simulate
