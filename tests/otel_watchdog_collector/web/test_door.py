"""Who may look and who may change something; other sites' pages may neither."""

import re

import pytest

from otel_watchdog_collector.web.logins import COOKIE

SECRET = "0123456789abcdef"  # noqa: S105 - of the tests
ROLES = ("ingest", "read", "operate", "admin")
PATHS = [
    "/fleet",
    "/fleet/table",
    "/fleet/corrections",
    "/fleet/activity",
    "/fleet/approvals",
    "/fleet/settings",
    "/fleet/agent?id=a/b",
    "/fleet/run?session=s&run=r",
    "/fleet/correction?id=x",
]
CHANGES = {"/fleet/settings": {"kill": "on"}, "/fleet/preview": {"watchdog": ""}}


@pytest.fixture
def guarded(serve):
    """Return a service with a token of each role, and one of another tenant."""
    made = [{"name": role, "token": f"{SECRET}-{role}", "role": role} for role in ROLES]
    other = {"name": "other", "token": f"{SECRET}-other", "role": "admin", "tenant": "other"}
    return serve(tokens=[*made, other])


def sign_in(running, role):
    """Sign in with the token of a role; return what is answered."""
    return running.client.post("/fleet/login", data={"token": f"{SECRET}-{role}"})


def stamp_of(running, path="/fleet/settings"):
    """Return what forms of a page hold."""
    found = re.search(r'name="stamp" value="([0-9a-f]+)"', running.client.get(path).text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("path", [*PATHS, "/fleet/events"])
def test_nobody_looks_without_signing_in(guarded, path):
    """Pages lead to where one signs in; the stream of news just refuses."""
    answer = guarded.client.get(path)

    if path == "/fleet/events":
        assert answer.status_code == 401
    else:
        assert (answer.status_code, answer.headers["location"]) == (303, "/fleet/login")


def test_a_cookie_stands_for_a_token_and_holds_none(guarded):
    """It is for these pages alone, no script reads it, and no other site's request carries it."""
    answer = sign_in(guarded, "read")

    cookie = answer.headers["set-cookie"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/fleet")
    assert SECRET not in cookie
    assert {"HttpOnly", "Path=/fleet", "SameSite=strict"} <= set(cookie.split("; "))
    assert guarded.client.get("/fleet").status_code == 200


@pytest.mark.parametrize("role", ["ingest", "wrong"])
def test_who_may_not_read_is_not_signed_in(guarded, role):
    """A token of role ingest is as good as none."""
    answer = sign_in(guarded, role)

    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert guarded.service.meters["denied_requests_total"] == 1


def test_signing_out_ends_it(guarded):
    """The cookie is worth nothing any more, wherever a copy of it is."""
    sign_in(guarded, "read")
    cookie = guarded.client.cookies[COOKIE]

    guarded.client.post("/fleet/logout", data={"stamp": stamp_of(guarded, "/fleet")})
    guarded.client.cookies.set(COOKIE, cookie, path="/fleet")

    assert guarded.client.get("/fleet").status_code == 303


@pytest.mark.parametrize("path", CHANGES)
def test_a_reader_changes_nothing(guarded, path):
    """Even with a form that is right in all else."""
    sign_in(guarded, "read")

    answer = guarded.client.post(path, data={**CHANGES[path], "stamp": stamp_of(guarded, "/fleet")})

    assert answer.status_code == 403
    assert guarded.service.fleets.paused_by("default") == []


@pytest.mark.parametrize(
    ("stamp", "headers"),
    [
        ("", {}),
        ("0" * 64, {}),
        ("\u00e9", {}),
        (None, {"origin": "https://evil.example"}),
        (None, {"sec-fetch-site": "cross-site"}),
        (None, {"content-type": "text/plain"}),
    ],
)
def test_a_form_of_another_sites_page_changes_nothing(guarded, stamp, headers):
    """It lacks the stamp, and the browser says where it comes from."""
    sign_in(guarded, "operate")
    form = {"kill": "on", "stamp": stamp_of(guarded) if stamp is None else stamp}

    answer = guarded.client.post("/fleet/settings", data=form, headers=headers)

    assert answer.status_code in {403, 415}
    assert guarded.service.fleets.paused_by("default") == []


def test_another_persons_stamp_is_worth_nothing(guarded):
    """Each cookie has its own."""
    sign_in(guarded, "admin")
    stamp = stamp_of(guarded)
    sign_in(guarded, "operate")

    answer = guarded.client.post("/fleet/settings", data={"kill": "on", "stamp": stamp})

    assert answer.status_code == 403


def test_what_is_changed_stands_in_the_audit_with_who_did_it(guarded):
    """By the name of the token that was signed in with."""
    sign_in(guarded, "operate")
    form = {"mode": "enforce", "stamp": stamp_of(guarded)}

    answer = guarded.client.post("/fleet/settings", data=form)

    headers = {"authorization": f"Bearer {SECRET}-admin"}
    (entry,) = guarded.client.get("/api/v1/audit", headers=headers).json()["items"]
    assert answer.status_code == 303
    assert (entry["user"], entry["action"]) == ("operate", "mode")
    assert guarded.client.get("/api/v1/mode", headers=headers).json()["mode"] == "enforce"


def test_settings_are_shown_to_admins_alone(guarded):
    """Secrets are hidden even from them."""
    sign_in(guarded, "operate")
    operator = guarded.client.get("/fleet/settings").text
    sign_in(guarded, "admin")
    admin = guarded.client.get("/fleet/settings").text

    assert "retention_days" not in operator
    assert "retention_days" in admin
    assert SECRET not in admin


def test_tenants_do_not_see_each_other(guarded, agent_spans):
    """Not in the table, not by an address that is known."""
    body = agent_spans.request().SerializeToString()
    headers = {"authorization": f"Bearer {SECRET}-admin", "content-type": "application/x-protobuf"}
    guarded.client.post("/v1/traces", content=body, headers=headers)
    guarded.wait(guarded.service.fleets.sweep())
    sign_in(guarded, "admin")
    own = guarded.client.get("/fleet/agent?id=shop/fixer")
    sign_in(guarded, "other")

    assert own.status_code == 200
    assert guarded.client.get("/fleet/agent?id=shop/fixer").status_code == 404
    assert "fixer" not in guarded.client.get("/fleet").text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4318", "127.0.0.1.evil.example", ""]
)
def test_without_tokens_only_this_machines_own_names_lead_here(serve, host):
    """Another site's name may be made to lead to loopback; its pages see nothing."""
    running = serve()

    assert running.client.get("/fleet", headers={"host": host}).status_code in {400, 421}
    assert running.client.get("/fleet").status_code == 200


@pytest.mark.parametrize("path", [*PATHS, "/fleet/static/htmx.min.js", "/fleet/no-such-page"])
def test_each_answer_forbids_what_is_not_ours(serve, path):
    """No inline script, no other host, no frame."""
    answer = serve().client.get(path)

    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(
        r"<script(?! src=)|\son\w+=|style=|https?://(?!127)", answer.text[:20000]
    ) or (path.endswith(".js"))


def test_a_form_that_is_too_large_is_not_read(serve):
    """It is refused before it fills the memory."""
    running = serve()
    data = {"watchdog": "x" * 300_000, "stamp": stamp_of(running)}

    assert running.client.post("/fleet/preview", data=data).status_code == 413


def test_files_outside_are_not_handed_out(serve):
    """Only those that are listed."""
    running = serve()

    for name in ("..%2Fapp.py", "../app.py", "app.py", "NOTICE.txt/.."):
        assert running.client.get(f"/fleet/static/{name}").status_code in {404, 307}
