"""What every program finds in its environment when it works on an iteration."""

from untilproven.contract import Turn


def surroundings(turn: Turn, model: str = "") -> dict[str, str]:
    given = {
        "RALPH_LOOP_ID": turn.loop_id,
        "RALPH_ITERATION": str(turn.iteration),
        "RALPH_PROMPT_FILE": str(turn.prompt_file),
        "RALPH_RESULT_FILE": str(turn.result_file),
    }
    return {**given, "RALPH_MODEL": model} if model else given
