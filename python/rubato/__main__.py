"""``python3 -m rubato ...`` is the command ``rubato``, with the algorithms of Python modules: ``--python module.py`` among the arguments
runs that file first, which registers them. ``--learner module.py:name`` takes that learner of the file, or the function that makes one
for a client's number, instead of the [data] and [model] of every experiment."""

import os
import runpy
import sys

from . import _core
from ._learner import at_place, factory_of


def main(arguments=None):
    """Carries out a command; the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    named, left = {"--python": [], "--learner": []}, []
    while arguments:
        argument = arguments.pop(0)
        option, is_joined, value = argument.partition("=")
        if option in named and (is_joined or arguments):
            named[option].append(value if is_joined else arguments.pop(0))
        else:
            left.append(argument)
    for module in named["--python"]:
        if not os.path.exists(module):
            print(f"rubato: --python {module}: there is no such file", file=sys.stderr)
            return 2
        runpy.run_path(module, run_name=os.path.splitext(os.path.basename(module))[0])
    for place in named["--learner"]:
        try:
            learner = at_place(place)
            _core.use_learners(factory_of(learner), bool(getattr(learner, "shared_test", False)))
        except (ValueError, TypeError) as error:
            print(f"rubato: {error}", file=sys.stderr)
            return 2
    sys.stdout.flush()
    return _core.main(["rubato", *left])


if __name__ == "__main__":
    sys.exit(main())
