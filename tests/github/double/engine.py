"""From a request to an answer: the caller, the operation, its handler, the contract, the headers every answer has."""

import hashlib
import re
import secrets
from dataclasses import dataclass, replace
from urllib.parse import unquote

from tests.github.double.answers import NOT_JSON, Answer, Failed, failure
from tests.github.double.contract import Operation, contract
from tests.github.double.credentials import Token
from tests.github.double.journal import Exchange
from tests.github.double.limits import Limits, resource_of
from tests.github.double.routes import HANDLERS
from tests.github.double.routes.call import Call
from tests.github.double.shaping.view import View
from tests.github.double.state import GitHub
from tests.github.double.wire import Request

API_VERSIONS = ("2022-11-28", "2026-03-10")
_BY_ID = re.compile(r"/repositories/(\d{1,18})(?=/|$)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """An operation, the parameters of its path, and the repository's id where the path names it by that."""

    operation: Operation
    parameters: dict[str, str]
    repository_id: int | None


class Engine:
    """Answers requests from the state; collects whatever GitHub's description does not allow.

    `origin` is the API's base URL, `prefix` the path in it (`/api/v3` on an Enterprise server).
    """

    def __init__(self, github: GitHub, prefix: str = "") -> None:
        self.github = github
        self.prefix = prefix
        self.origin = ""
        self.violations: list[str] = []
        self._limits = Limits(github.limits)

    def meaning(self, request: Request) -> Meaning | None:
        """What a request means; None where it is no operation of the description."""
        if not request.path.startswith(self.prefix + "/"):
            return None
        path = request.path.removeprefix(self.prefix)
        by_id = _BY_ID.match(path)
        if by_id:
            path = f"/repos/by/id{path[by_id.end() :]}"
        found = contract().find(request.method, path)
        return None if found is None else Meaning(*found, int(by_id[1]) if by_id else None)

    def examine(self, request: Request, meaning: Meaning | None) -> None:
        """Note what no client should send, whatever the answer will be."""
        if meaning is None:
            self.violations.append(f"{request.method} {request.target} is none of the operations; see pack_openapi.py")
        else:
            self.violations.extend(_faults(request, meaning.operation))

    def answer(self, exchange: Exchange, meaning: Meaning | None) -> Answer:
        """Handle a request as GitHub would; what it changes is changed when this returns."""
        request = exchange.request
        answer = self._refused(request)
        if answer is None:
            answer = failure(404, "Not Found") if meaning is None else self._handled(request, meaning)
        exchange.took_effect = request.method != "GET" and answer.status < 300
        return self.dressed(_conditional(answer, request), request, meaning)

    def _handled(self, request: Request, meaning: Meaning) -> Answer:
        viewer, operation = self._viewer(request), meaning.operation
        window = self._limits.window(viewer, resource_of(operation.identity))
        if self.github.enforce_limits and window.remaining == 0:
            return failure(403, "API rate limit exceeded.")
        if operation.identity != "rate-limit/get":
            window.take(to_the_end=self.github.enforce_limits)
        view = View(self.github, self.origin + self.prefix, viewer)
        inner = replace(request, target=request.target.removeprefix(self.prefix))
        call = Call(view, inner, operation, meaning.parameters, self._limits, meaning.repository_id)
        try:
            return HANDLERS[operation.identity](call)
        except Failed as failed:
            return failed.answer

    def checked(self, answer: Answer, meaning: Meaning | None) -> Answer:
        """The answer, if it is one that GitHub's description allows; else the violation, kept and sent in its place."""
        if meaning is None or answer.document is NOT_JSON or not answer.checked:
            return answer
        faults = list(
            contract().faults_of_answer(meaning.operation, answer.status, answer.described_as, answer.document)
        )
        if not faults:
            return answer
        self.violations.extend(faults)
        return Answer(500, (("Content-Type", "text/plain"),), "\n".join(faults).encode())

    def dressed(self, answer: Answer, request: Request, meaning: Meaning | None) -> Answer:
        """The answer with the headers that every one of GitHub's has."""
        viewer = self._viewer(request)
        resource = resource_of(meaning.operation.identity if meaning else "")
        headers = [
            ("X-GitHub-Request-Id", secrets.token_hex(8).upper()),
            ("X-GitHub-Api-Version-Selected", request.header("X-GitHub-Api-Version") or API_VERSIONS[0]),
            *self._limits.window(viewer, resource).headers(resource),
        ]
        if viewer is not None and viewer.scoped:
            headers += [("X-OAuth-Scopes", ", ".join(viewer.scopes)), ("X-Accepted-OAuth-Scopes", "repo")]
        return answer.with_headers(*headers)

    def _viewer(self, request: Request) -> Token | None:
        return self.github.tokens.get(_credential(request))

    def _refused(self, request: Request) -> Answer | None:
        """What GitHub refuses before it looks at the path."""
        if request.header("User-Agent") is None:
            return failure(403, "Request forbidden by administrative rules. Please have a User-Agent header.")
        version = request.header("X-GitHub-Api-Version")
        if version is not None and version not in API_VERSIONS:
            return failure(400, f"Unsupported version header: {version}")
        if request.header("Authorization") is not None and self._viewer(request) is None:
            return failure(401, "Bad credentials")
        return None


def _credential(request: Request) -> str:
    scheme, _, text = (request.header("Authorization") or "").partition(" ")
    return text.strip() if scheme.lower() in ("bearer", "token") else ""


def _faults(request: Request, operation: Operation) -> list[str]:
    """What is wrong with a request that means an operation: GitHub would answer it, a client should not send it."""
    decoded = [unquote(part) for part in request.path.split("/")[1:]]
    faults = list(contract().faults_of_query(operation, request.query))
    if request.body:
        try:
            faults += contract().faults_of_body(operation, request.json)
        except ValueError:
            faults.append(f"{operation.identity}: the body is no JSON")
    if any(part in (".", "..") for one in decoded for part in one.split("/")):
        faults.append(f"{request.target} has a dot segment")
    if "" in decoded[:-1]:
        faults.append(f"{request.target} has an empty segment")
    if "#" in request.target:
        faults.append(f"{request.target} has a fragment")
    return faults


def _conditional(answer: Answer, request: Request) -> Answer:
    """304 where the client has this answer already (RFC 9110, 13.1.2)."""
    if request.method != "GET" or answer.status != 200:
        return answer
    tag = f'W/"{hashlib.sha256(answer.body).hexdigest()}"'
    known = [one.strip() for one in (request.header("If-None-Match") or "").split(",")]
    if "*" in known or tag in known or tag.removeprefix("W/") in known:
        return Answer(304, (("ETag", tag),))
    return replace(answer, headers=(*answer.headers, ("ETag", tag), ("Cache-Control", "private, max-age=60")))
