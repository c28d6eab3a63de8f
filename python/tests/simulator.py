"""Keeps an energy counter current: simulator.py FILE WATTS."""

import os
import sys
import time

with open(sys.argv[1], "r+b", buffering=0) as counter:
    watts = float(sys.argv[2])
    start = time.monotonic()
    while True:
        microjoules = int((time.monotonic() - start) * watts * 1e6)
        os.pwrite(counter.fileno(), f"{microjoules:<19}\n".encode(), 0)
        if len(sys.argv) < 4:
            print("ready", flush=True)
            sys.argv.append("told")
        time.sleep(0.0005)
