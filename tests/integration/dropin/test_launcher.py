"""`opentelemetry-instrument`: no line of the program is changed."""

import pytest

PROGRAM = """
from otel_watchdog import current
agent()
provider = trace.get_tracer_provider()
if hasattr(provider, "force_flush"):
    provider.force_flush()
watchdog = current()
tell(
    watchdog,
    there=watchdog is not None,
    sampler=provider.sampler.get_description() if hasattr(provider, "sampler") else "",
    turns=watchdog._config.refractory_turns if watchdog else None,
)
"""

CONFIGURATION = """
file_format: "1.0"
tracer_provider:
  sampler: {sampler}
  processors:
    - simple:
        exporter:
          otlp_http:
            endpoint: {endpoint}/v1/traces
instrumentation/development:
  python:
    {entry}
"""


@pytest.fixture
def launch(run, receiver, tmp_path):
    """Return what runs the program under the launcher."""

    def start(*, entry=None, sampler="{always_on: }", program=PROGRAM, **variables):
        if entry is not None:
            file = tmp_path / "otel.yaml"
            text = CONFIGURATION.format(endpoint=receiver.url, entry=entry, sampler=sampler)
            file.write_text(text, "utf-8")
            variables["OTEL_CONFIG_FILE"] = str(file)
        return run(
            "launcher",
            program,
            launcher=True,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
            OTEL_METRICS_EXPORTER="none",
            OTEL_LOGS_EXPORTER="none",
            **variables,
        )

    return start


def test_watches_by_being_installed_and_only_observes(launch, receiver):
    """That a package is there is nobody's consent to be spoken to."""
    told = launch()

    assert told["there"]
    assert told["waiting"] == []
    assert all(name.name.endswith("-observed") for name in receiver.corrections)
    assert receiver.corrections
    assert receiver.names.count("execute_tool ls") == 8


def test_a_variable_says_more(launch, receiver):
    """Settings come from the environment."""
    told = launch(OTEL_WATCHDOG_MODE="feedback", OTEL_WATCHDOG_REFRACTORY_TURNS="7")

    assert len(told["waiting"]) == 1
    assert told["turns"] == 7
    assert len(receiver.corrections) == 1


def test_can_be_turned_off_by_name(launch, receiver):
    """As every instrumentation can."""
    told = launch(OTEL_PYTHON_DISABLED_INSTRUMENTATIONS="otel_watchdog")

    assert not told["there"]
    assert receiver.corrections == []
    assert receiver.names.count("execute_tool ls") == 8


def test_wrong_settings_leave_the_rest_alone(launch, receiver):
    """One line says what is wrong; everybody else's telemetry goes on."""
    told = launch(OTEL_WATCHDOG_REFRACTORY_TURNS="many")

    assert not told["there"]
    assert "not watching" in told["stderr"]
    assert "refractory_turns" in told["stderr"]
    assert receiver.names.count("execute_tool ls") == 8


def test_a_line_in_the_program_finds_the_launchers(launch):
    """`install()` and the launcher share one watchdog."""
    told = launch(
        program="""
from otel_watchdog import current, install
print(json.dumps({"same": install() is current()}))
"""
    )

    assert told["same"]


def test_the_sampler_has_a_name_for_the_environment(launch, receiver):
    """Nothing is exported, and all is watched."""
    told = launch(
        OTEL_TRACES_SAMPLER="otel_watchdog",
        OTEL_TRACES_SAMPLER_ARG="0.0",
        OTEL_WATCHDOG_MODE="feedback",
    )

    assert len(told["waiting"]) == 1
    assert told["sampler"].startswith("RecordAll{ParentBased{root:TraceIdRatio")
    assert receiver.spans == []
    assert "recognize" not in told["stderr"]


def test_declarative_configuration_holds_its_settings(launch, receiver):
    """An entry in the instrumentation section, with variables put in."""
    told = launch(
        entry="otel_watchdog: {mode: feedback, refractory_turns: '${TURNS:-5}'}",
        sampler="{otel_watchdog: }",
    )

    assert len(told["waiting"]) == 1
    assert told["turns"] == 5
    assert told["sampler"].startswith("RecordAll{")
    assert len(receiver.corrections) == 1


@pytest.mark.parametrize(
    "entry",
    ["otel_watchdog: {enabled: false}", "otel_watchdog: {refractory_turnz: 5}", "other: {}"],
    ids=["off", "misspelt", "missing"],
)
def test_declarative_configuration_has_the_last_word(launch, receiver, entry):
    """What it does not ask for does not happen, and its own exporters go on."""
    told = launch(entry=entry)

    assert not told["there"]
    assert receiver.corrections == []
    assert receiver.names.count("execute_tool ls") == 8


def test_a_processor_of_ours_in_the_configuration_is_refused_by_opentelemetry(launch, tmp_path):
    """Known: its Python knows `batch` and `simple` alone; the instrumentation section is the way."""
    file = tmp_path / "wrong.yaml"
    file.write_text(
        'file_format: "1.0"\ntracer_provider:\n  processors:\n    - otel_watchdog: {}\n', "utf-8"
    )

    told = launch(OTEL_CONFIG_FILE=str(file))

    assert not told["there"]
    assert "Supported types: batch, simple" in told["stderr"]
