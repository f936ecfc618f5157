#!/usr/bin/python3
"""How large pages are and how quick: 1,000 clients with 200,000 marks, and 30 settings compared.

    bench/pages/measure.py RUBATO [--times N]

Sizes are the same on every machine. Times are medians of N (7) openings in a headless Chromium: to the first paint, until the page
is ready with its score unpacked, and of a frame while the score and the plots are zoomed; write them down from an idle machine only.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(tree, "tests/page"))
from browser import Browser, Page  # noqa: E402


def run(rubato, home, name, *arguments):
    subprocess.run([rubato, *arguments, "--out", os.path.join(home, name)], cwd=home, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(home, name, "report.html")


ZOOM = """(async () => {
  const score = document.querySelector('#score'), end = JSON.parse(document.getElementById('data').textContent).score.end, spent = [];
  for (let i = 1; i <= 20; ++i) {
    const begun = performance.now();
    score.showScore(end * i / 50, end * (1 - i / 50));
    await new Promise(done => requestAnimationFrame(() => { spent.push(performance.now() - begun); done(); }));
  }
  return spent.sort((a, b) => a - b)[10];
})()"""


def measure(browser, file, times):
    paints, ready, frames = [], [], []
    for _ in range(times):
        page = Page(browser)
        page.open("file://" + file)
        page.until("performance.getEntriesByName('rubato ready').length > 0")
        page.until("performance.getEntriesByType('paint').length > 0")
        ready.append(page.run("performance.getEntriesByName('rubato ready').at(-1).startTime") / 1000)
        paints.append(page.run("performance.getEntriesByType('paint').find(p => p.name === 'first-paint').startTime") / 1000)
        if page.run("!!document.querySelector('#score')?.showScore"):
            frames.append(page.run(ZOOM))
        page.browser.call("Target.closeTarget", {"targetId": page.target})
    return {"first paint, s": statistics.median(paints), "ready, s": statistics.median(ready),
            **({"zoom frame, ms": statistics.median(frames)} if frames else {})}


def main():
    rubato = os.path.abspath(sys.argv[1])
    times = int(sys.argv[sys.argv.index("--times") + 1]) if "--times" in sys.argv else 7
    quickstart = os.path.join(tree, "examples/quickstart.toml")
    with tempfile.TemporaryDirectory() as home, Browser() as browser:
        many = run(rubato, home, "many", "run", quickstart, "--set", "clients.count=1000", "--set", "until=49.9", "--set",
                   "data.partition.kind=iid", "--set", "model.name=softmax", "--set", "metrics.clients=20")
        settings = run(rubato, home, "settings", "compare", quickstart, "--seeds", "2", "--grid",
                       "algorithm.eta=" + ",".join(f"{0.01 * i:.2f}" for i in range(1, 31)), "--set", "until=30.5")
        with open(os.path.join(home, "many/summary.json")) as text:
            summary = json.load(text)
        marks = summary["computations"] + summary["publications"] + summary["messages"]["sent"]
        for name, file, what in (("1,000 clients", many, f"{marks:,} marks"), ("30 settings", settings, "60 runs")):
            print(f"{name}: {what}, page of {os.path.getsize(file):,} bytes")
            for key, value in measure(browser, file, times).items():
                print(f"  {key}: {value:.3g}")


main()
