"""Which room a loop gets here, found by building it, and why not a better one."""

from untilproven.watch.doctor.frame import Finding
from untilproven.workspace.overlay.available import available as overlay_refused
from untilproven.workspace.shadow.available import available as shadow_refused
from untilproven.workspace.shadow.confinement import weak_points

_OVERLAY = "overlay: one was built, and what was written in it stayed in its layer"


def room() -> Finding:
    """What `--sandbox auto` comes to."""
    why_no_overlay = overlay_refused(again=True)
    if not why_no_overlay:
        return Finding("room", "ok", _OVERLAY)
    why_no_shadow = shadow_refused()
    if why_no_shadow:
        found = f"none: overlay: {why_no_overlay}; shadow: {why_no_shadow}"
        return Finding("room", "problem", found, "`--sandbox none` runs the agent as you, on your files")
    weak = "; ".join(weak_points())
    found = f"shadow, best effort ({weak}); no overlay: {why_no_overlay}"
    return Finding("room", "warning", found, "docs/threat-model.md says what the difference is")
