#!/usr/bin/python3
"""What it costs a run to be looked at: alternating pairs of one thread, with --serve and without.

    bench/pages/serving.py RUBATO [--pairs N] [--until SECONDS] [--viewers N]

Prints medians over N (5) pairs of the ratio of wall_seconds in summary.json: without a page, then with 20 pages of which one
never reads. Every page asks for marks, as a browser's does. The CPU time is that of the whole process, with its server. Write the
figures down from an idle machine with a core for the server and one for the run only.
"""
import argparse
import base64
import json
import os
import re
import selectors
import socket
import statistics
import subprocess
import sys
import threading

tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def frame(text):
    """What a browser sends: one masked frame, with a mask that changes nothing."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text


class Viewers(threading.Thread):
    """Pages of which all but the first read whatever comes, until the server closes or says that the run has ended."""

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.bytes = 0
        self.ways, self.deaf = selectors.DefaultSelector(), None
        for i in range(number):
            one = socket.socket()
            if i == 0:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", port))
            key = base64.b64encode(os.urandom(16))
            one.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
            head = b""
            while b"\r\n\r\n" not in head:
                head += one.recv(1)
            if not head.startswith(b"HTTP/1.1 101"):
                raise RuntimeError(head.decode())
            one.sendall(frame(b'{"type":"subscribe","marks":true}'))
            if i == 0:
                self.deaf = one
            else:
                one.setblocking(False)
                self.ways.register(one, selectors.EVENT_READ, bytearray())
        self.start()

    def run(self):
        while self.ways.get_map():
            for key, _ in self.ways.select():
                try:
                    read = key.fileobj.recv(1 << 20)
                except OSError:
                    read = b""
                self.bytes += len(read)
                if not read or b'"type":"end"' in read:
                    self.ways.unregister(key.fileobj)
                    key.fileobj.close()
        self.deaf.close()


def run(rubato, until, serves, viewers):
    """Wall seconds of the run, CPU seconds of its process, bytes that pages have read."""
    command = [rubato, "run", os.path.join(tree, "examples/quickstart.toml"), "--set", f"until={until}", "--quiet", "--json", "--threads",
               "1", *(["--serve", "0"] if serves else [])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watching = None
    if viewers:
        for line in process.stderr:
            found = re.search(r"shown at http://[^/]*:(\d+)", line)
            if found:
                watching = Viewers(int(found[1]), viewers)
                break
    rest = threading.Thread(target=process.stderr.read)
    rest.start()
    summary = json.loads(process.stdout.read())
    rest.join()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    if watching:
        watching.join()
    return summary["wall_seconds"], used.ru_utime + used.ru_stime, watching.bytes if watching else 0


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("rubato")
    asked.add_argument("--pairs", type=int, default=5)
    asked.add_argument("--until", type=float, default=3000.5)
    asked.add_argument("--viewers", type=int, nargs="*", default=[0, 20])
    how = asked.parse_args()
    rubato = os.path.abspath(how.rubato)
    for viewers in how.viewers:
        ratios, cpu = [], []
        for i in range(how.pairs):
            # Whatever the machine does over time falls on both sides: the order changes from pair to pair.
            pair = {}
            for serves in ((False, True), (True, False))[i % 2]:
                pair[serves] = run(rubato, how.until, serves, viewers if serves else 0)
            ratios.append(pair[True][0] / pair[False][0])
            cpu.append(pair[True][1] / pair[False][1])
            print(f"  {viewers} pages: {pair[False][0]:.2f} s without, {pair[True][0]:.2f} s with; CPU {pair[False][1]:.2f} s and "
                  f"{pair[True][1]:.2f} s; {pair[True][2] / 1e6:.1f} MB read", flush=True)
        print(f"{viewers} pages: wall time x {statistics.median(ratios):.4f}, CPU time x {statistics.median(cpu):.4f} "
              f"(medians of {how.pairs} pairs)", flush=True)


main()
