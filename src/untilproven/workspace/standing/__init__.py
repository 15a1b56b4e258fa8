"""The user's tree while somebody works in it beside us: remembered at the start, looked at, never touched."""
