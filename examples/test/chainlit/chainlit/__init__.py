"""Stands in for Chainlit 2 in the test of its page: names, fields and effects as in Chainlit's source (Apache-2.0), and nothing else."""

data_layers = []


def data_layer(function):
    data_layers.append(function)
    return function
