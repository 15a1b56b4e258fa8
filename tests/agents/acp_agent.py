"""An agent that speaks the Agent Client Protocol as a script tells it: `acp_agent.py SCRIPT.json`.

The script says for each iteration what is unusual about it; the last one stands for all that follow. All that it is
told is kept, line by line, in the file beside the script.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]

script_file = Path(sys.argv[1])
scripts: list[Json] = json.loads(script_file.read_text())
script = scripts[min(int(os.environ["RALPH_ITERATION"]), len(scripts)) - 1]
heard_file = script_file.with_suffix(".heard")
sessions = script_file.with_suffix(".sessions")
session = ""


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**told: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": told}})


def hear() -> Json:
    line = sys.stdin.readline()
    if not line:
        if script.get("stays"):
            time.sleep(1000)
        sys.exit(script.get("exit", 0))
    with heard_file.open("a") as kept:
        kept.write(line)
    said: Json = json.loads(line)
    return said


def ask(method: str, **params: Any) -> Json:
    send({"id": "q1", "method": method, "params": params})
    answer = hear()
    assert answer["id"] == "q1", answer
    return answer


def play(step: Json) -> None:
    """One step of the answer to a prompt."""
    match step:
        case {"say": words}:
            for piece in (words[: len(words) // 2], words[len(words) // 2 :]):
                update(
                    sessionUpdate="agent_message_chunk",
                    messageId=step.get("message", ""),
                    content={"type": "text", "text": piece},
                )
        case {"update": told}:
            update(**told)
        case {"ask": method}:
            answer = ask(method, sessionId=session, **step.get("params", {}))
            update(
                sessionUpdate="agent_message_chunk",
                messageId=json.dumps(step),
                content={"type": "text", "text": json.dumps(answer.get("result", answer.get("error")))},
            )
        case _:
            do(step)


def do(step: Json) -> None:
    match step:
        case {"write": name}:
            Path(name).write_text(step.get("content", ""))
        case {"print": text}:
            sys.stdout.write(text)
            sys.stdout.flush()
        case {"complain": text}:
            sys.stderr.write(text)
            sys.stderr.flush()
        case {"background": line}:
            subprocess.Popen(line, shell=True, start_new_session=True)
        case {"exit": code}:
            sys.exit(code)
        case {"kill": number}:
            os.kill(os.getpid(), number)
        case {"hang": seconds}:
            time.sleep(seconds)
        case _:
            raise AssertionError(step)


def answer(method: str, params: Json) -> Json:
    global session  # noqa: PLW0603  a small program
    past = json.loads(sessions.read_text()) if sessions.exists() else []
    match method:
        case "initialize":
            return {
                "protocolVersion": 1,
                "agentInfo": {"name": "scripted", "version": "1"},
                "agentCapabilities": {"loadSession": script.get("keeps_sessions", True)},
                "authMethods": [],
                **script.get("initialize", {}),
            }
        case "session/new":
            session = f"session-{len(past) + 1}"
            sessions.write_text(json.dumps([*past, session]))
            return {"sessionId": session, **script.get("opened", {})}
        case "session/load":
            session = params["sessionId"]
            update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "This was before."})
            update(
                sessionUpdate="tool_call", toolCallId="old", title="old", kind="execute", rawInput={"command": "old"}
            )
            return dict(script.get("opened", {}))
        case "session/prompt":
            return {"stopReason": work(), **script.get("answer", {})}
        case "session/set_model" | "session/set_config_option" | "authenticate":
            return {}
    raise AssertionError(method)


def work() -> str:
    try:
        for step in script.get("steps", []):
            play(step)
    except KeyboardInterrupt:
        if not script.get("cancels"):
            raise
        return "cancelled"
    return "end_turn"


def refusal(method: str, *, authenticated: bool) -> Json | None:
    error: Json | None = script.get("errors", {}).get(method)
    return error if error and not (authenticated and error["code"] == -32000) else None


def main() -> None:
    authenticated = False
    while True:
        message = hear()
        method, number = message["method"], message["id"]
        if script.get("hangs_in") == method:
            time.sleep(1000)
        if error := refusal(method, authenticated=authenticated):
            send({"id": number, "error": error})
            continue
        send({"id": number, "result": answer(method, message.get("params", {}))})
        authenticated = authenticated or method == "authenticate"


main()
