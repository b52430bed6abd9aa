"""The models that may be asked whether an agent still progresses, one a file."""
