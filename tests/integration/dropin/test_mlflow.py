"""Beside MLflow's own set-up, which keeps its tracer provider to itself."""

SETUP = """
import os
os.environ["MLFLOW_TRACKING_URI"] = "file:" + os.path.abspath("mlruns")
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
import mlflow
from mlflow.tracing import get_bridged_tracer_provider
from otel_watchdog import install
mlflow.set_experiment("e")
"""


def test_its_own_provider(run):
    """The bridged provider is the way in; what MLflow traces is watched there."""
    told = run(
        "mlflow",
        SETUP
        + """
with mlflow.start_span("warm up"):
    pass
provider = get_bridged_tracer_provider()
watchdog = install(provider)
agent(provider.get_tracer("some.instrumentation"))
tell(watchdog, same=install(provider) is watchdog)
""",
    )

    assert told["same"]
    assert len(told["waiting"]) == 1


def test_one_provider_for_all(run):
    """With MLflow's switch set, it joins the global provider."""
    told = run(
        "mlflow",
        SETUP
        + """
watchdog = install()
with mlflow.start_span("warm up"):
    pass
agent()
tell(watchdog)
""",
        MLFLOW_USE_DEFAULT_TRACER_PROVIDER="false",
    )

    assert len(told["waiting"]) == 1


def test_after_a_reset_it_is_installed_again(run):
    """MLflow makes a new provider, on which nothing is left; `install` sees that it is another."""
    told = run(
        "mlflow",
        SETUP
        + """
with mlflow.start_span("warm up"):
    pass
first = install(get_bridged_tracer_provider())
mlflow.tracing.reset()
with mlflow.start_span("warm up"):
    pass
provider = get_bridged_tracer_provider()
watchdog = install(provider)
agent(provider.get_tracer("some.instrumentation"))
tell(watchdog, same=first is watchdog)
""",
    )

    assert not told["same"]
    assert len(told["waiting"]) == 1
