#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Send commands to the socket of auxtrace record --control, and print the answers.

usage: ask.py SOCKET COMMAND...
"""
import socket
import sys

control = socket.socket(socket.AF_UNIX)
control.settimeout(300)
control.connect(sys.argv[1])
answers = control.makefile()
for command in sys.argv[2:]:
    control.sendall(command.encode() + b"\n")
    for line in answers:
        print(line, end="")
        if line == "ack\n" or line.startswith("error: "):
            break
    else:
        sys.exit(f"no answer to {command}")
