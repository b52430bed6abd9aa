"""What holds for every store."""

import dataclasses
from pathlib import Path

import pytest
from sqlalchemy import update

from otel_watchdog_collector.facts import Entry, Kind, Parcel, Row, Snapshot, Table
from otel_watchdog_collector.stores import MemoryStore, StoreError, open_store
from otel_watchdog_collector.stores.base import Query
from otel_watchdog_collector.stores.sql import SqlStore
from otel_watchdog_collector.stores.tables import VERSION, versions


class Place:
    """Where a store keeps things; opens it, and opens it again as a new process would."""

    def __init__(self, url):
        self._url = url
        self._memory = MemoryStore()

    def open(self):
        return self._memory if self._url == "memory:" else open_store(self._url)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """Return each kind of place, empty."""
    if request.param == "postgres":
        return Place(request.getfixturevalue("postgres"))
    return Place({"memory": "memory:", "sqlite": f"sqlite:{tmp_path}/deep/w.db"}[request.param])


@pytest.fixture
def store(place):
    """Return each kind of store, empty."""
    opened = place.open()
    yield opened
    opened.close()


def entry(body=b"x", tenant="t", **facts):
    """Return an entry of the journal."""
    return Entry(Kind.TRACES_PROTOBUF, tenant, 1.5, body, **facts)


def row(id_="r", at=1.0, table=Table.CORRECTIONS, tenant="t", **fields):
    """Return a row."""
    return Row(table=table, tenant=tenant, id=id_, at=at, fields={"session": "s", **fields})


def parcel(id_="p", destination="d", body=b"\x00\xff"):
    """Return a parcel."""
    return Parcel(destination=destination, id=id_, path="/v1/traces", content_type="c", body=body)


def ids(rows):
    """Return the ids of rows."""
    return [one.id for one in rows]


def test_the_journal_keeps_the_order_and_every_byte(store):
    """What was committed comes back as it was, with numbers that grow."""
    entries = [entry(bytes(range(256))), entry(b"", gzipped=True), entry(b"\x00" * 300_000)]

    last = store.commit(entries)

    found = list(store.journal())
    assert [one for _, one in found] == entries
    assert [seq for seq, _ in found] == [last - 2, last - 1, last]
    assert list(store.journal(last)) == []


def test_a_snapshot_takes_the_place_of_its_entries(store):
    """Entries up to the snapshot's are dropped, later ones stay; numbers are not used again."""
    first = store.commit([entry(b"1"), entry(b"2")])
    store.save_snapshot(Snapshot(first, b"state"))
    second = store.commit([entry(b"3")])

    found = [(seq, one.body) for seq, one in store.journal(first)]

    assert store.snapshot() == Snapshot(first, b"state")
    assert found == [(first + 1, b"3")]
    assert second == first + 1
    assert [seq for seq, _ in store.journal()] == [second]


def test_numbers_go_on_after_all_entries_were_dropped_and_the_store_was_opened_anew(place):
    """A number that a snapshot has seen must not name another entry."""
    store = place.open()
    last = store.commit([entry(), entry()])
    store.save_snapshot(Snapshot(last, b"s"))
    store.close()
    again = place.open()

    following = again.commit([entry()])

    assert following == last + 1
    again.close()


def test_rows_are_replaced_and_listed_the_latest_first(store):
    """One row an id; pages follow each other without gap or overlap, also at equal times."""
    store.commit(rows=[row("a", 1.0, state="waiting"), row("b", 2.0), row("c", 2.0)])
    store.commit(rows=[row("a", 3.0, state="delivered")])

    first = store.rows(Query(Table.CORRECTIONS, "t", limit=2))
    last = first[-1]
    second = store.rows(Query(Table.CORRECTIONS, "t", before=(last.at, last.id), limit=2))

    assert ids(first) == ["a", "b"]
    assert ids(second) == ["c"]
    assert store.row(Table.CORRECTIONS, "t", "a").fields["state"] == "delivered"


def test_rows_of_one_commit_with_the_same_id_leave_the_last(store):
    """A correction may be made and claimed before the rows are written."""
    store.commit(rows=[row("a", 1.0, state="waiting"), row("a", 2.0, state="delivered")])

    assert store.row(Table.CORRECTIONS, "t", "a").fields["state"] == "delivered"


def test_a_tenant_sees_its_own_rows_alone(store):
    """Equal ids of two tenants are two rows."""
    store.commit(rows=[row("a", tenant="t"), row("a", tenant="other", state="x")])

    mine = store.rows(Query(Table.CORRECTIONS, "t"))

    assert [one.tenant for one in mine] == ["t"]
    assert store.row(Table.CORRECTIONS, "nobody", "a") is None


def test_rows_are_found_by_their_fields(store):
    """By session, agent and state of a correction, all at once."""
    store.commit(
        rows=[row("a", agent="x", state="waiting"), row("b", agent="x"), row("c", agent=None)]
    )

    found = store.rows(Query(Table.CORRECTIONS, "t", {"agent": "x", "state": "waiting"}))

    assert ids(found) == ["a"]


@pytest.mark.parametrize("text", ["a\0b", "é" * 10_000], ids=["NUL", "long"])
def test_a_text_that_no_index_takes_is_found_all_the_same(store, text):
    """Ids come from outside; one that cannot be written would stop all that come after it."""
    store.commit(rows=[row(text, session=text), row("other"), row(text + "x")])

    found = store.rows(Query(Table.CORRECTIONS, "t", {"session": text}))

    assert [one.fields["session"] for one in found] == [text]
    assert store.row(Table.CORRECTIONS, "t", text) == found[0]


@pytest.mark.parametrize("text", ["'; DROP TABLE journal; --", "%_\\", "\u2028🐕", "a/b?c"])
def test_any_text_is_data(store, text):
    """Ids and fields come from outside: none of them is read as SQL or as a pattern."""
    store.commit(rows=[row(text, session=text), row("other")])

    found = store.rows(Query(Table.CORRECTIONS, "t", {"session": text}))

    assert ids(found) == [text]


def test_a_parcel_waits_until_it_was_sent_and_never_again(store):
    """What is put in again after a crash, because the journal is replayed, is not sent again."""
    store.commit(parcels=[parcel("1"), parcel("2"), parcel("1", destination="e")])
    store.sent("d", ["1"])

    store.commit(parcels=[parcel("1"), parcel("3")])

    assert ids(store.parcels("d", 10)) == ["2", "3"]
    assert ids(store.parcels("d", 1)) == ["2"]
    assert (store.waiting_parcels("d"), store.waiting_parcels("e")) == (2, 1)
    assert store.parcels("e", 10) == [parcel("1", destination="e")]


def test_old_rows_go(store):
    """Retention goes by the last change, in every table."""
    store.commit(rows=[row(f"{table}", at, table) for table in Table for at in (1.0, 9.0)])
    store.commit(rows=[row("old", 1.0)])

    count = store.prune(5.0)

    assert count == 1
    assert store.row(Table.CORRECTIONS, "t", "old") is None


def test_what_was_committed_outlives_the_process(place):
    """A store that is opened anew has everything."""
    store = place.open()
    last = store.commit([entry(b"1")], [row("a")], [parcel()])
    store.save_snapshot(Snapshot(last, b"s"), [row("b", 2.0)], [parcel("q")])
    store.commit([entry(b"2")])
    store.close()

    again = place.open()

    assert [one.body for _, one in again.journal(last)] == [b"2"]
    assert again.snapshot().body == b"s"
    assert ids(again.rows(Query(Table.CORRECTIONS, "t"))) == ["b", "a"]
    assert ids(again.parcels("d", 9)) == ["p", "q"]
    again.close()


def test_closing_twice_is_harmless(store):
    """Shutdown may come twice."""
    store.close()

    store.close()


def test_the_size_is_told(store):
    """A journal takes about as much as it holds."""
    store.commit([entry(bytes(100_000))])

    assert store.size_bytes() >= 90_000 or store.size_bytes() > 0


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_services_cannot_have_one_store(kind, request, tmp_path):
    """The second is told so at its start, and the first goes on."""
    url = request.getfixturevalue("postgres") if kind == "postgres" else f"sqlite:{tmp_path}/w.db"
    first = open_store(url)

    with pytest.raises(StoreError, match=r"another service|cannot be had"):
        open_store(url)

    assert first.commit([entry()]) == 1
    first.close()
    again = open_store(url)
    again.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_of_a_newer_version_is_left_alone(kind, request, tmp_path):
    """Going back a version must not damage what the newer one wrote."""
    url = request.getfixturevalue("postgres") if kind == "postgres" else f"sqlite:{tmp_path}/w.db"
    store = open_store(url)
    assert isinstance(store, SqlStore)
    with store._engine.begin() as connection:
        connection.execute(update(versions).values(version=VERSION + 1))
    store.close()

    with pytest.raises(StoreError, match=f"version {VERSION + 1}"):
        open_store(url)


def test_the_file_is_for_its_owner_alone(tmp_path):
    """It holds what agents said."""
    store = open_store(f"sqlite:{tmp_path}/w.db")

    mode = Path(tmp_path / "w.db").stat().st_mode & 0o777

    store.close()
    assert mode == 0o600


def test_a_file_that_is_no_database_is_an_error_at_the_start(tmp_path):
    """And is not written over."""
    file = tmp_path / "w.db"
    file.write_bytes(b"something else entirely" * 100)

    with pytest.raises(StoreError, match="not a database"):
        open_store(f"sqlite:{file}")

    assert file.read_bytes().startswith(b"something else")


def test_the_size_of_a_file_stays_within_what_is_kept(tmp_path):
    """Space of pruned rows and dropped entries is used again or given back."""
    store = open_store(f"sqlite:{tmp_path}/w.db")
    sizes = []
    for day in range(6):
        rows = [row(f"{day}-{n}", float(day), text="x" * 1000) for n in range(500)]
        last = store.commit([entry(bytes(500_000))], rows)
        store.save_snapshot(Snapshot(last, b"s" * 100_000))
        store.prune(day - 1)
        sizes.append(store.size_bytes())

    store.close()
    assert max(sizes[3:]) <= sizes[2] * 1.3


def test_dataclasses_of_the_interface_are_frozen():
    """A row that a caller still holds cannot change under the writer's hands."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        row().at = 2.0


def test_the_audit_is_found_by_agent_action_and_time(store):
    """Whatever is asked of it, the latest comes first."""
    entries = [
        row("1", 1.0, Table.AUDIT, agent="s/a", action="watchdog-restart"),
        row("2", 2.0, Table.AUDIT, agent="s/a", action="resume"),
        row("3", 3.0, Table.AUDIT, agent="s/b", action="watchdog-restart"),
        row("4", 4.0, Table.AUDIT, agent=None, action="kill-switch"),
    ]
    store.commit(rows=entries)

    by_agent = store.rows(Query(Table.AUDIT, "t", {"agent": "s/a"}))
    by_both = store.rows(Query(Table.AUDIT, "t", {"agent": "s/a", "action": "resume"}))
    since = store.rows(Query(Table.AUDIT, "t", since=3.0))

    assert ids(by_agent) == ["2", "1"]
    assert ids(by_both) == ["2"]
    assert ids(since) == ["4", "3"]
    assert ids(store.rows(Query(Table.AUDIT, "t", since=1.5, before=(3.0, "3")))) == ["2"]


def test_conditions_incidents_and_approvals_are_found_by_their_state(store):
    """As the pages ask for them."""
    store.commit(
        rows=[
            row("s/a", 1.0, Table.CONDITIONS, service="s", state="ready"),
            row("s/b", 2.0, Table.CONDITIONS, service="s", state="crash-loop"),
            row("i1", 1.0, Table.INCIDENTS, state="open", kind="auth"),
            row("i2", 2.0, Table.INCIDENTS, state="closed", kind="auth"),
            row("q1", 1.0, Table.APPROVALS, state="asked", agent="s/a"),
        ]
    )

    found = [
        ids(store.rows(Query(table, "t", where)))
        for table, where in (
            (Table.CONDITIONS, {"state": "crash-loop"}),
            (Table.CONDITIONS, {"service": "s"}),
            (Table.INCIDENTS, {"state": "open"}),
            (Table.INCIDENTS, {"kind": "auth"}),
            (Table.APPROVALS, {"state": "asked", "agent": "s/a"}),
        )
    ]

    assert found == [["s/b"], ["s/b", "s/a"], ["i1"], ["i2", "i1"], ["q1"]]


def test_the_audit_and_what_people_set_outlive_the_other_rows(store):
    """Each goes by a retention of its own; what people set stays for good."""
    store.commit(rows=[row(f"{table}", 1.0, table) for table in Table])

    count = store.prune(5.0)
    left = {table for table in Table if store.row(table, "t", f"{table}") is not None}
    audit = store.prune(5.0, {Table.AUDIT})

    assert count == len(Table) - 2
    assert left == {Table.AUDIT, Table.FLEET}
    assert audit == 1
    assert store.row(Table.FLEET, "t", f"{Table.FLEET}") is not None


def test_the_tenants_of_a_table_are_known(store):
    """A service that starts must find what it kept of each."""
    store.commit(
        rows=[
            row("1", table=Table.CONDITIONS, tenant="b"),
            row("2", table=Table.CONDITIONS, tenant="a"),
            row("3", table=Table.CONDITIONS, tenant="a"),
            row("4", table=Table.AUDIT, tenant="c"),
        ]
    )

    assert store.tenants(Table.CONDITIONS) == ["a", "b"]
    assert store.tenants(Table.INCIDENTS) == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_of_the_first_version_gets_the_new_tables(kind, request, tmp_path):
    """And keeps what it has."""
    url = request.getfixturevalue("postgres") if kind == "postgres" else f"sqlite:{tmp_path}/w.db"
    store = open_store(url)
    assert isinstance(store, SqlStore)
    store.commit([entry(b"1")], [row("old")])
    new = (Table.CONDITIONS, Table.INCIDENTS, Table.AUDIT, Table.FLEET, Table.APPROVALS)
    with store._engine.begin() as connection:
        for table in new:
            connection.exec_driver_sql(f"DROP TABLE {table.value}")
        connection.execute(update(versions).values(version=1))
    store.close()

    again = open_store(url)

    again.commit(rows=[row("new", table=table) for table in new])
    assert [one.body for _, one in again.journal()] == [b"1"]
    assert again.row(Table.CORRECTIONS, "t", "old") is not None
    assert again.row(Table.AUDIT, "t", "new") is not None
    again.close()
