"""What review tools offer beyond spans; each needs its own extra, none is on the agent's path."""
