"""A stand-in for `gh`, as far as it is used: `auth status` and `api --include`, with a login of its own."""

import os
import sys
import urllib.error
import urllib.request

words = sys.argv[1:]
if words[:2] == ["auth", "status"]:
    sys.exit(0 if os.environ.get("GH_STAND_IN_TOKEN") else 1)
assert words[0] == "api", words
headers, method, path, include, takes_input = {}, "GET", "", False, False
rest = iter(words[1:])
for word in rest:
    match word:
        case "--include":
            include = True
        case "--hostname":
            next(rest)
        case "--method":
            method = next(rest)
        case "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        case "--input":
            assert next(rest) == "-"
            takes_input = True
        case _:
            path = word
assert include, "the status is needed"
headers["Authorization"] = f"Bearer {os.environ['GH_STAND_IN_TOKEN']}"
data = sys.stdin.buffer.read() if takes_input else None
request = urllib.request.Request(f"{os.environ['GH_STAND_IN_URL']}/{path}", data=data, headers=headers, method=method)
code = 0
try:
    answer = urllib.request.urlopen(request, timeout=30)
except urllib.error.HTTPError as error:
    answer, code = error, 1
except OSError as error:
    sys.exit(f"error connecting: {error}")
with answer:
    sys.stdout.buffer.write(f"HTTP/2.0 {answer.status} {answer.reason}\r\n".encode())
    for name, value in answer.headers.items():
        sys.stdout.buffer.write(f"{name}: {value}\r\n".encode())
    sys.stdout.buffer.write(b"\r\n" + answer.read())
sys.exit(code)
