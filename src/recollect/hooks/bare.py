"""Run a hook in a bare interpreter: python -I -S bare.py inject [OPTION...]

Kept this small because a script, unlike a module, is compiled at each start.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # the process ends before a collection could pay
    sys.path.insert(0, __file__.rpartition("recollect")[0])
    # Where the environment's other packages are, which -S leaves out together with the start-up code of all of them.
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.path.append(sys.executable.rpartition("/bin/")[0] + f"/lib/{version}/site-packages")
    if sys.argv[1:2] == ["inject"]:
        from recollect.hooks.inject import run

        sys.exit(run(sys.argv[2:]))
    sys.stderr.write("usage: bare.py inject [OPTION...]\n")
