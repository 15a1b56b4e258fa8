"""A program that passes a notice on by way of Apprise: what, and to whom, comes on stdin, for addresses are secret."""

import sys

import msgspec


class _Said(msgspec.Struct, frozen=True):
    address: str
    title: str
    body: str


def main() -> int:
    said = msgspec.json.decode(sys.stdin.buffer.read(), type=_Said)
    import apprise  # noqa: PLC0415  an extra, and slow to load

    services = apprise.Apprise()
    if not services.add(said.address):
        print("Apprise knows no service with such an address")  # noqa: T201  who started it reads this
        return 1
    if not services.notify(title=said.title, body=said.body):
        print("the service that Apprise asked did not take it")  # noqa: T201  the same
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
