"""What the main dashboard asks Prometheus."""

from panels import Panel, meters, semconv


def prom(name: str, suffix: str = "_total") -> str:
    """Return a metric's or attribute's name as Prometheus has it."""
    return name.replace(".", "_").replace("-", "_") + suffix


CORRECTIONS = prom(semconv.METRIC_CORRECTIONS)
FINDINGS = prom(semconv.METRIC_FINDINGS)
OUTCOMES = prom(semconv.METRIC_OUTCOMES)
SUPPRESSED = prom(semconv.METRIC_SUPPRESSED)
TURNS = prom(semconv.METRIC_TURNS_TO_HEED, "_bucket")
DELIVERY = prom(semconv.METRIC_FEEDBACK_DURATION, "_seconds_bucket")
PENDING = prom(semconv.METRIC_FEEDBACK_PENDING, "")
DROPPED = prom(semconv.METRIC_FEEDBACK_DROPPED)
SPANS = prom(semconv.METRIC_SPANS)
SESSIONS = prom(semconv.METRIC_SESSIONS, "")
WATCHDOGS = prom(semconv.METRIC_WATCHDOGS, "")
RUNS = prom(semconv.METRIC_RUNS)
TOKENS = prom(semconv.METRIC_AGENT_TOKENS)
AGENT_COST = prom(semconv.METRIC_AGENT_COST)
ON_END = prom(semconv.METRIC_ON_END_DURATION, "_seconds_bucket")
CHECKS = prom(semconv.METRIC_DRIFT_CHECKS)
SKIPPED = prom(semconv.METRIC_DRIFT_CHECKS_SKIPPED)
CHECK_COST = prom(semconv.METRIC_DRIFT_CHECK_COST)
CHECK_SECONDS = prom(semconv.METRIC_DRIFT_CHECK_DURATION, "_seconds_bucket")
ERRORS = prom(semconv.METRIC_INTERNAL_ERRORS)
TIER = prom(semconv.WATCHDOG_TIER_NAME, "")
DETECTOR = prom(semconv.WATCHDOG_DETECTOR_NAME, "")
MODE = prom(semconv.WATCHDOG_MODE, "")
OUTCOME = prom(semconv.WATCHDOG_OUTCOME, "")
REASON = prom(semconv.WATCHDOG_SUPPRESSED, "")
SEVERITY = prom(semconv.WATCHDOG_SEVERITY, "")
AGENT = prom(semconv.GEN_AI_AGENT_NAME, "")
PLACE = prom(semconv.CODE_NAMESPACE, "")
RUN_END = prom(semconv.WATCHDOG_RUN_END, "")
VERDICT = prom(semconv.WATCHDOG_VERDICT, "")
GIVEN = f'{MODE}!="observe"'
KNOWN = f'{OUTCOME}!="unknown"'
HEEDED = f'{OUTCOME}="heeded"'
FAILED = f'{VERDICT}="error"'
NOT_HEEDED = f'{OUTCOME}=~"ignored|relapsed"'


def service(name: str) -> str:
    """Return the name of one of the fleet service's metrics; a test asks the service for it."""
    return meters.PREFIX + name


def _sum(metric: str, where: str = "", by: str = "", over: str = "$__range") -> str:
    grouped = f"sum by ({by}) " if by else "sum"
    selector = f"{{{where}}}" if where else ""
    return f"{grouped}(increase({metric}{selector}[{over}]))"


def _heeded(by: str = "") -> str:
    heeded = _sum(OUTCOMES, HEEDED, by)
    return f"{heeded} / {_sum(OUTCOMES, KNOWN, by)}"


def _quantile(share: float, metric: str = TURNS, over: str = "$__range") -> str:
    return f"histogram_quantile({share}, {_sum(metric, '', 'le', over)})"


def _quantiles(title: str, metric: str, about: str = "") -> list[Panel]:
    """Return the middle and the slow end of times, over time."""
    return [
        Panel(
            title=f"{title}, {share:.0%} are faster",
            kind="lines",
            query=_quantile(share, metric, "$__rate_interval"),
            legend=f"{share:.0%}",
            unit="s",
            about=about,
        )
        for share in (0.5, 0.95)
    ]


PROMETHEUS: dict[str, list[Panel]] = {
    "Now": [
        Panel(title="Sessions watched", kind="stat", query=f"sum({SESSIONS})"),
        Panel(
            title="Corrections that wait for their agents",
            kind="stat",
            query=f"sum({PENDING})",
            about="Taken at the agent's next turn; if they stay, it has no adapter.",
        ),
        Panel(title="Corrections", kind="stat", query=_sum(CORRECTIONS, GIVEN)),
        Panel(
            title="Runs told to end",
            kind="stat",
            query=_sum(CORRECTIONS, f'{GIVEN},{TIER}=~"hard-stop|terminate"'),
            about="Corrections at the two last tiers, which limit the turns that are left.",
        ),
        Panel(title="Heeded", kind="stat", query=_heeded(), unit="percentunit"),
        Panel(
            title="Agents corrected",
            kind="stat",
            query=f"count({_sum(CORRECTIONS, GIVEN, AGENT)} > 0)",
        ),
        Panel(
            title="Judge's share of what the agents cost",
            kind="stat",
            query=f"{_sum(CHECK_COST)} / {_sum(AGENT_COST)}",
            unit="percentunit",
            about="Where the agents' spans say what they cost.",
        ),
        Panel(
            title="Watchdogs by mode",
            kind="stat",
            query=f"sum by ({MODE}) ({WATCHDOGS})",
            legend=f"{{{{{MODE}}}}}",
        ),
    ],
    "Corrections": [
        Panel(
            title="Corrections by tier",
            kind="bars",
            query=_sum(CORRECTIONS, GIVEN, TIER, "$__rate_interval"),
            legend=f"{{{{{TIER}}}}}",
        ),
        Panel(
            title="Distribution over tiers",
            kind="ranking",
            query=_sum(CORRECTIONS, GIVEN, TIER),
            legend=f"{{{{{TIER}}}}}",
            about="Most should stop at the first tiers: agents that heed need no firmer word.",
        ),
        Panel(
            title="Corrections by detector",
            kind="ranking",
            query=f"topk(10, {_sum(CORRECTIONS, GIVEN, DETECTOR)})",
            legend=f"{{{{{DETECTOR}}}}}",
        ),
        Panel(
            title="Said, and would have said",
            kind="lines",
            query=_sum(CORRECTIONS, "", MODE, "$__rate_interval"),
            legend=f"{{{{{MODE}}}}}",
            about="In mode observe nothing is delivered.",
        ),
    ],
    "Who drifts": [
        Panel(
            title="Most corrected agents",
            kind="ranking",
            query=f"topk(10, {_sum(CORRECTIONS, GIVEN, AGENT)})",
            legend=f"{{{{{AGENT}}}}}",
        ),
        Panel(
            title="Corrections by agent and tier",
            kind="table",
            query=_sum(CORRECTIONS, GIVEN, f"{AGENT}, {TIER}"),
        ),
        Panel(
            title="Agents that do not listen",
            kind="ranking",
            query=f"topk(10, {_sum(OUTCOMES, NOT_HEEDED, AGENT)})",
            legend=f"{{{{{AGENT}}}}}",
        ),
        Panel(
            title="Runs by agent and how they ended",
            kind="table",
            query=_sum(RUNS, "", f"{AGENT}, {RUN_END}"),
        ),
        Panel(
            title="Agents by cost",
            kind="ranking",
            query=f"topk(10, {_sum(AGENT_COST, '', AGENT)})",
            legend=f"{{{{{AGENT}}}}}",
            unit="currencyUSD",
        ),
        Panel(
            title="Agents by tokens",
            kind="ranking",
            query=f"topk(10, {_sum(TOKENS, '', AGENT)})",
            legend=f"{{{{{AGENT}}}}}",
        ),
    ],
    "Did it help": [
        Panel(
            title="Heeded by tier",
            kind="ranking",
            query=_heeded(TIER),
            legend=f"{{{{{TIER}}}}}",
            unit="percentunit",
        ),
        Panel(
            title="Heeded by detector",
            kind="ranking",
            query=_heeded(DETECTOR),
            legend=f"{{{{{DETECTOR}}}}}",
            unit="percentunit",
            about="A detector that is seldom heeded may be raising false alarms.",
        ),
        Panel(
            title="Outcomes",
            kind="bars",
            query=_sum(OUTCOMES, "", OUTCOME, "$__rate_interval"),
            legend=f"{{{{{OUTCOME}}}}}",
        ),
        Panel(title="Turns until it was heeded, median", kind="stat", query=_quantile(0.5)),
        Panel(title="Turns until it was heeded, 90 %", kind="stat", query=_quantile(0.9)),
        Panel(
            title="Runs by how they ended",
            kind="bars",
            query=_sum(RUNS, "", RUN_END, "$__rate_interval"),
            legend=f"{{{{{RUN_END}}}}}",
            about="capped: at the last turn that a correction had left.",
        ),
    ],
    "Drift check": [
        Panel(title="Checks", kind="stat", query=_sum(CHECKS)),
        Panel(title="Cost", kind="stat", query=_sum(CHECK_COST), unit="currencyUSD"),
        Panel(
            title="Checks that failed",
            kind="stat",
            query=f"{_sum(CHECKS, FAILED)} / {_sum(CHECKS)}",
            unit="percentunit",
        ),
        Panel(
            title="Verdicts",
            kind="bars",
            query=_sum(CHECKS, "", VERDICT, "$__rate_interval"),
            legend=f"{{{{{VERDICT}}}}}",
        ),
        Panel(
            title="Checks not made, by limit",
            kind="bars",
            query=_sum(SKIPPED, "", REASON, "$__rate_interval"),
            legend=f"{{{{{REASON}}}}}",
        ),
        *_quantiles("How long a check takes", CHECK_SECONDS),
    ],
    "Health of the watchdog": [
        Panel(
            title="Failures of ours",
            kind="bars",
            query=_sum(ERRORS, "", PLACE, "$__rate_interval"),
            legend=f"{{{{{PLACE}}}}}",
            about="Kept from the watched program; any is a bug.",
        ),
        Panel(
            title="Time that reading a span takes, 99 % are faster",
            kind="lines",
            query=_quantile(0.99, ON_END, "$__rate_interval"),
            legend="99%",
            unit="s",
            about="Of the watched program's time.",
        ),
        Panel(
            title="Spans read",
            kind="lines",
            query=f"sum(rate({SPANS}[$__rate_interval]))",
            legend="spans",
            unit="reqps",
        ),
        *_quantiles("From correction to agent", DELIVERY, "An agent takes it at its next turn."),
        Panel(
            title="Corrections that gave way to newer ones",
            kind="bars",
            query=_sum(DROPPED, "", "", "$__rate_interval"),
            legend="corrections",
        ),
        Panel(
            title="Findings that led to no correction",
            kind="bars",
            query=_sum(SUPPRESSED, "", REASON, "$__rate_interval"),
            legend=f"{{{{{REASON}}}}}",
        ),
        Panel(
            title="Findings by severity",
            kind="lines",
            query=_sum(FINDINGS, "", SEVERITY, "$__rate_interval"),
            legend=f"{{{{{SEVERITY}}}}}",
        ),
        Panel(
            title="Fleet service: spans in",
            kind="lines",
            query=f"sum(rate({service('received_spans_total')}[$__rate_interval]))",
            legend="spans",
            unit="reqps",
        ),
        Panel(
            title="Fleet service: sessions, and corrections that wait",
            kind="lines",
            query=f"{service('sessions')} or {service('waiting_corrections')}",
            legend="{{__name__}}",
        ),
        Panel(
            title="Fleet service: refused requests",
            kind="lines",
            query=_sum(service("refused_requests_total"), "", "", "$__rate_interval"),
            legend="requests",
        ),
        Panel(
            title="Fleet service: corrections that no agent took",
            kind="lines",
            query=_sum(service("expired_corrections_total"), "", "", "$__rate_interval"),
            legend="corrections",
        ),
    ],
}
"""Rows of the main dashboard."""
