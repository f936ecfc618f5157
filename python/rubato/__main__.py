"""``python3 -m rubato ...`` is the command ``rubato``, with the algorithms of Python modules: ``--python module.py`` among the arguments
runs that file first, which registers them."""

import os
import runpy
import sys

from . import _core


def main(arguments=None):
    """Carries out a command; the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    modules, left = [], []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--python" and arguments:
            modules.append(arguments.pop(0))
        elif argument.startswith("--python="):
            modules.append(argument.partition("=")[2])
        else:
            left.append(argument)
    for module in modules:
        if not os.path.exists(module):
            print(f"rubato: --python {module}: there is no such file", file=sys.stderr)
            return 2
        runpy.run_path(module, run_name=os.path.splitext(os.path.basename(module))[0])
    sys.stdout.flush()
    return _core.main(["rubato", *left])


if __name__ == "__main__":
    sys.exit(main())
