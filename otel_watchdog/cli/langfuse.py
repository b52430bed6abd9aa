"""`otel-watchdog langfuse`: correction texts, datasets and labels in Langfuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import orjson
import typer

from otel_watchdog.cli.safe import safe
from otel_watchdog.errors import WatchdogError
from otel_watchdog.judges.pydantic_ai import INSTRUCTIONS

EXIT_FAILED: Final = 2
"""Exit code where Langfuse refused, could not be reached, or its keys are not set."""

app = typer.Typer(
    name="langfuse",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Keep correction texts, datasets and labels in Langfuse; its keys come from "
    "`LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY` and `LANGFUSE_BASE_URL`.",
)


@app.command("push-prompts")
def push_prompts(
    *,
    label: Annotated[str, typer.Option(help="Label of the version that counts.")] = "production",
) -> None:
    """Put the built-in texts of corrections and of the judge into Langfuse, to be edited there.

    Prompts that are there already are left alone.
    """
    with _client() as (tool, client):
        made = tool.push_prompts(client, label=label, instructions=INSTRUCTIONS)
    for name in made:
        typer.echo(f"made {safe(name)}")
    typer.echo(f"{len(made)} prompts made")


@app.command("export-dataset")
def export_dataset(
    *,
    dataset: Annotated[str, typer.Option(help="Made if it is not there.")] = "watchdog-corrections",
    since: Annotated[
        datetime | None, typer.Option(help="Corrections from then on, in UTC.", show_default="all")
    ] = None,
) -> None:
    """Put stored corrections into a dataset, to be labelled there; twice makes no doubles."""
    at = since.replace(tzinfo=UTC) if since is not None else None
    with _client() as (tool, client):
        count = tool.export_corrections(client, dataset=dataset, since=at)
    typer.echo(f"{count} corrections in {safe(dataset)}")


@app.command()
def labels() -> None:
    """Print what people said of corrections, one JSON object a label.

    A label is a score called `watchdog.false_alarm` on a correction: 1 if it was not called for.
    """
    with _client() as (tool, client):
        for label in tool.labels(client):
            typer.echo(orjson.dumps(label._asdict()))


@contextmanager
def _client() -> Iterator[tuple[Any, Any]]:
    """Yield our part for Langfuse and a client of it; end with one line where that fails."""
    try:
        from otel_watchdog.reviews import langfuse  # noqa: PLC0415 - an extra

        yield langfuse, langfuse.client()
    except WatchdogError as error:
        typer.echo(safe(str(error), limit=1000), err=True)
        raise typer.Exit(EXIT_FAILED) from None
