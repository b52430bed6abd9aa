"""The callbacks that put corrections before an agent, one framework a file.

Each imports its framework, which is an extra of the same name; none is imported from here.
"""
