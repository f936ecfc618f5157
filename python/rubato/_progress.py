"""How far a run has come: a line in a terminal, one in a notebook."""

import sys


def _clock(seconds):
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes}:{rest:02d}"


class _Line:
    def __init__(self, until):
        self._until = until
        self._last = -1.0
        self._width = 0

    def __call__(self, seconds, wall_seconds, events, accuracy):
        if wall_seconds - self._last < 0.2:
            return
        self._last = wall_seconds
        share = min(seconds / self._until, 1.0) if self._until > 0 else 0.0
        full = int(24 * share)
        text = f"[{'#' * full}{'.' * (24 - full)}] {100 * share:3.0f} %  {_clock(wall_seconds)}"
        if share > 0.01:
            text += f", {_clock(wall_seconds * (1 - share) / share)} left"
        if accuracy is not None:
            text += f", accuracy {accuracy:.3f}"
        self.show(text)


class TerminalLine(_Line):
    """A line on standard error that is written over."""

    def show(self, text):
        self._width = max(self._width, len(text))
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()

    def finish(self):
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


class NotebookLine(_Line):
    """A line of a cell that is shown anew."""

    _handle = None

    def show(self, text):
        from IPython.display import display

        page = {"text/plain": text}
        if self._handle is None:
            self._handle = display(page, raw=True, display_id=True)
        else:
            self._handle.update(page, raw=True)

    def finish(self):
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _is_notebook():
    shell = sys.modules.get("IPython")
    try:
        return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
    except AttributeError:
        return False


def line_for(wanted, until):
    """The line that suits where the program runs; None where it is not wanted: then nothing is shown."""
    if wanted is False:
        return None
    if _is_notebook():
        return NotebookLine(until)
    if wanted or (sys.stderr is not None and sys.stderr.isatty()):
        return TerminalLine(until)
    return None
