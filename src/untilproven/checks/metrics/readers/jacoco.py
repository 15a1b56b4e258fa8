"""JaCoCo's XML: counters below the report, and below each source file."""

from untilproven.checks.metrics.readers.counted import Counted, Share, share
from untilproven.checks.reports import markup
from untilproven.checks.reports.results import Unreadable


def read(report: bytes) -> Counted:
    """Files are named as `com/acme/Cart.java`: by their package, not by where they lie."""
    heard = _Counters()
    markup.listen(report, heard, names_its_type=True)
    if "LINE" not in heard.whole:
        raise Unreadable("the report has no lines: the classes were compiled without debug information")
    return Counted(tool="jacoco", lines=heard.whole["LINE"], branches=heard.whole.get("BRANCH"), files=heard.files)


class _Counters:
    def __init__(self) -> None:
        self.whole: dict[str, Share] = {}
        self.files: dict[str, Share] = {}
        self._within: list[str] = []
        self._package = ""
        self._file = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "package":
                self._package = attributes.get("name", "")
            case "sourcefile":
                self._file = "/".join(part for part in (self._package, attributes.get("name", "")) if part)
            case "counter":
                self._counter(attributes)
        self._within.append(tag)

    def _counter(self, attributes: dict[str, str]) -> None:
        missed, covered = int(attributes["missed"]), int(attributes["covered"])
        found = share(covered, missed + covered)
        if self._within == ["report"]:
            self.whole[attributes["type"]] = found
        elif self._within[-1:] == ["sourcefile"] and attributes["type"] == "LINE":
            self.files[self._file] = found

    def data(self, text: str) -> None:
        """Nothing is said in words."""

    def end(self, _tag: str) -> None:
        self._within.pop()
