"""The only room that touches the user's tree."""
