"""recollect in a bare interpreter: python -I -S bare.py hook NAME | inject [OPTION...] | command [ARGUMENT...]

Kept this small because a script, unlike a module, is compiled at each start.
"""

import gc
import os
import sys


def _main() -> int:
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, source)
    # The environment's other packages; -S leaves out this folder, and with it the start-up code of all packages.
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.path.append(sys.executable.rpartition("/bin/")[0] + f"/lib/{version}/site-packages")
    data = os.environ.get("CLAUDE_PLUGIN_DATA")
    if data and not os.access(source, os.W_OK):
        sys.pycache_prefix = os.path.join(data, "bytecode")  # otherwise every start would compile everything
    if sys.argv[1:2] == ["command"]:
        return _command()
    gc.disable()  # the process ends before a collection could pay
    if sys.argv[1:2] == ["inject"]:
        from recollect.hooks.inject import run
    else:
        from recollect.hooks.run import run
    return run(sys.argv[2:])


def _command() -> int:
    from recollect.plugin.environment import complete

    complete()
    try:
        from recollect.cli.main import COMMANDS, main

        if sys.argv[2:3] and sys.argv[2] in COMMANDS:
            __import__(f"recollect.cli.{sys.argv[2]}")
    except ImportError as error:
        complete(str(error))
        raise
    sys.argv[:] = ["recollect", *sys.argv[2:]]
    main()
    return 0


if __name__ == "__main__":
    exit_code = _main()
    if sys.argv[1:2] != ["command"]:
        os._exit(exit_code)  # everything is written, so skip the interpreter's slow shutdown
    sys.exit(exit_code)
