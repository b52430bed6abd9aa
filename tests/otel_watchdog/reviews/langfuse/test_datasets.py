"""Corrections out to a dataset, and labels back."""

from otel_watchdog.reviews.langfuse import export_corrections, labels

NOW = "2026-11-30T12:00:00.000Z"


def test_corrections_become_items_once(client, fake):
    """An item's id is the correction's; other guardrails are left alone; pages are followed."""
    for number in range(3):
        fake.observe(
            f"{number:016x}",
            type="GUARDRAIL",
            name="watchdog-nudge-turn-5",
            input={"detector": "same_error"},
            output="[watchdog] stop",
            metadata={"watchdog": {"correction": {"id": f"c{number}"}}},
        )
    fake.observe("f" * 16, type="GUARDRAIL", name="somebody else's", metadata={})

    counts = [export_corrections(client) for _ in range(2)]

    assert counts == [3, 3]
    assert set(fake.items) == {"c0", "c1", "c2"}
    item = fake.items["c0"]
    assert item["input"] == {"fired": {"detector": "same_error"}, "message": "[watchdog] stop"}
    assert (item["sourceTraceId"], item["sourceObservationId"]) == ("a" * 32, f"{0:016x}")
    assert fake.datasets == {"watchdog-corrections"}


def test_labels_come_back(client, fake):
    """Whatever the API's version calls the place of a score."""
    fake.given_scores = [
        {
            "id": "s1",
            "projectId": "p",
            "name": "watchdog.false_alarm",
            "source": "ANNOTATION",
            "dataType": "BOOLEAN",
            "value": True,
            "stringValue": "True",
            "comment": "it was polling",
            "timestamp": NOW,
            "createdAt": NOW,
            "updatedAt": NOW,
            "environment": "default",
            "traceId": "a" * 32,
            "observationId": "b" * 16,
            "subject": {"kind": "observation", "id": "b" * 16, "traceId": "a" * 32},
        }
    ]

    (label,) = labels(client)

    assert label == ("a" * 32, "b" * 16, True, "ANNOTATION", "it was polling")
