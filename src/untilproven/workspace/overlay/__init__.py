"""The room of an agent: a layer over the user's tree, known to the byte, that is merged or dropped."""
