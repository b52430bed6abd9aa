"""The fleet's health: conditions, healing, audit, incidents."""

from otel_watchdog_collector.fleet.actions import Actor
from otel_watchdog_collector.fleet.audit_file import AuditFile
from otel_watchdog_collector.fleet.keeper import Keeper
from otel_watchdog_collector.fleet.probes import Prober
from otel_watchdog_collector.fleet.shelf import Shelf
from otel_watchdog_collector.fleet.switches import Switches

__all__ = ["Actor", "AuditFile", "Keeper", "Prober", "Shelf", "Switches"]
