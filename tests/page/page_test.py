#!/usr/bin/python3
"""Looks at the pages of runs in a headless browser.

    page_test.py RUBATO SOURCE_TREE [--all]

The small set opens the quick start's report: numbers, axes, zoom, theme, width, paper, console, requests, and a comparison. With --all
also churn, wireless, real time, three hosts of which one is killed, a live page whose server is killed and started again, and pictures
to look at in $RUBATO_PICTURES. Exit code 77 without a browser.
"""
import csv
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Failure, Page  # noqa: E402

pictures = os.environ.get("RUBATO_PICTURES")


def check(condition, *what):
    if not condition:
        raise Failure("; ".join(str(one) for one in what) or "a check failed")


def same(one, other, *what):
    check(one == other, *what, f"{one!r} is not {other!r}")


def table(file):
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


class World:
    """The command, its tree, and a folder for what it leaves."""

    def __init__(self, rubato, tree):
        self.rubato, self.tree = rubato, tree
        self.home = tempfile.mkdtemp(prefix="rubato-pages-")
        self.made = {}

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def command(self, *arguments, patience=600):
        ended = subprocess.run([self.rubato, *arguments], cwd=self.home, capture_output=True, text=True, timeout=patience)
        check(ended.returncode == 0, " ".join(arguments), ended.stderr[-2000:])
        return ended.stdout

    def run(self, name, example, *settings):
        """The folder of a run of an example; made once."""
        if name not in self.made:
            folder = os.path.join(self.home, name)
            words = [part for setting in settings for part in ("--set", setting)]
            self.command("run", os.path.join(self.tree, "examples", example), "--out", folder, *words)
            self.made[name] = folder
        return self.made[name]

    def quick(self):
        return self.run("quick", "quickstart.toml", "until=60.5")

    def comparison(self):
        if "comparison" not in self.made:
            folder = os.path.join(self.home, "comparison")
            self.command("compare", os.path.join(self.tree, "examples/quickstart.toml"), "--seeds", "3", "--grid",
                         "algorithm.eta=0.02,0.05", "--set", "until=40.5", "--target", "0.5", "--out", folder)
            self.made["comparison"] = folder
        return self.made["comparison"]


def report_of(browser, folder, **how):
    page = Page(browser, **how)
    page.open(f"file://{folder}/report.html")
    ready = "!document.getElementById('score') || document.getElementById('score').dataset.ready === 'yes' || !document.querySelector('#score canvas')"
    page.until(ready)
    return page


def quiet(page):
    same(page.complaints(), [], "the page is not quiet")


def picture(page, name):
    if not pictures:
        return
    os.makedirs(pictures, exist_ok=True)
    height = page.run("document.documentElement.scrollHeight")
    width = page.run("innerWidth")
    page.size(width, min(height, 8000), 1, width < 600)
    time.sleep(0.4)
    page.picture(os.path.join(pictures, name + ".png"))


# What a card's table of numbers says, as rows of texts.
READ_TABLE = """(selector => [...document.querySelectorAll(selector + ' tr')].map(row => [...row.cells].map(cell => cell.textContent)))"""


def numbers_of_messages(page, folder):
    """Every number of the table of messages against summary.json, the sums of clients.csv and of links.csv."""
    with open(os.path.join(folder, "summary.json")) as text:
        summary = json.load(text)
    messages = summary["messages"]
    shown = {row[0]: row[1].replace(",", "") for row in page.run(READ_TABLE + "('#outcomes table')")[1:]}
    names = {"kept by their receivers": "delivered", "lost by a link": "lost", "lost to a partition": "lost_to_partition",
             "lost between hosts": "lost_between_hosts", "for clients that were away": "lost_to_absence", "too late": "late",
             "above the reception cap": "capped", "seen before": "duplicates",
             "not needed any more when they came": "surplus", "of an earlier life or epoch": "stale",
             "of another shape": "misshapen", "under way at the end": "under_way",
             "without an outcome at the end": "under_way"}
    sent = next((name for name in shown if name.startswith("sent ")), None)
    if messages["sent"] == 0:
        return
    same(int(shown[sent]), messages["sent"], "sent")
    found = {names[name]: int(value) for name, value in shown.items() if name in names}
    for key in set(names.values()):
        same(found.get(key, 0), messages.get(key) or 0, key)
    if messages["under_way"] is not None:
        whole = messages["sent"] + messages.get("copies", 0) + messages.get("from_lost_hosts", 0)
        same(sum(found.values()), whole, "outcomes add up to what was sent")
        check("Σ ✓" in page.run("document.getElementById('outcomes').textContent"), "the page says that they add up")
    reasons = {"sent": "sent", "kept": "delivered"} | {name: name for name in (
        "late", "capped", "lost", "lost_to_partition", "lost_to_absence", "duplicates", "surplus", "stale", "misshapen", "copies")}
    clients = table(os.path.join(folder, "clients.csv"))
    for column, key in (reasons | {"superseded": "superseded", "repeated": "repeated"}).items():
        same(sum(int(row[column]) for row in clients), messages[key], "clients.csv", column)
    links = os.path.join(folder, "links.csv")
    if os.path.exists(links) and not summary.get("host_clients"):  # a host counts links of its own clients
        rows = table(links)
        for column, key in reasons.items():
            same(sum(int(row[column]) for row in rows), messages[key], "links.csv", column)
        data = page.run("JSON.parse(document.getElementById('data').textContent).links")
        same(sum(data["sent"]), messages["sent"], "links of the page")
    course = page.run("JSON.parse(document.getElementById('data').textContent).course")
    if course and summary["clock"] == "virtual":
        same(sum(course["sent"]), messages["sent"], "course")
        for key, name in (("lost", "lost"), ("late", "late"), ("capped", "capped"), ("partition", "lost_to_partition"),
                          ("absent", "lost_to_absence")):
            same(sum(course[key]), messages[name], "course", key)


def headline_numbers(page, folder):
    with open(os.path.join(folder, "summary.json")) as text:
        summary = json.load(text)
    shown = {row[1].split(" (")[0]: row[0] for row in page.run(
        "[...document.querySelectorAll('#numbers .number')].map(n => [n.querySelector('b').textContent, n.querySelector('span').textContent])")}
    accuracy = summary["accuracy"]
    if "accuracy, mean of clients" in shown and shown["accuracy, mean of clients"].endswith("%"):
        same(shown["accuracy, mean of clients"], f"{100 * accuracy['mean']:.2f} %")
        same(shown["accuracy of the mean model"], f"{100 * accuracy['mean_model']:.2f} %")
    same(shown["messages sent"], f"{summary['messages']['sent']:,}")
    same(shown["unifications"], f"{summary['unifications']:,}")
    same(shown["gradients"], f"{summary['gradients']:,}")
    last = table(os.path.join(folder, "metrics.csv"))[-1]
    same(int(last["gradients"]), summary["gradients"], "metrics.csv")
    same(int(last["bytes_wire"]), summary["bytes"]["wire"], "metrics.csv")


def axes_are_monotone(page):
    for name in ("seconds", "paper_bits", "bytes_wire", "gradients", "joules"):
        ok = page.run(f"""(() => {{ const d = JSON.parse(document.getElementById('data').textContent).samples,
            i = d.columns.indexOf('{name}'), v = d.rows.map(r => r[i]); return v.every((x, k) => !k || x >= v[k - 1]); }})()""")
        check(ok, f"{name} falls")


def ranges(page):
    return page.run("[...document.querySelectorAll('.plot')].map(p => p.dataset.range || '')")


def a_report_says_what_the_files_of_its_run_say(world, browser):
    folder = world.quick()
    page = report_of(browser, folder)
    headline_numbers(page, folder)
    numbers_of_messages(page, folder)
    axes_are_monotone(page)
    with open(os.path.join(folder, "summary.json")) as text:
        summary = json.load(text)
    story = page.run("document.getElementById('story').textContent")
    check(f"{100 * summary['accuracy']['mean']:.1f} %" in story, story)
    rows = [row for row in table(os.path.join(folder, "clients.csv")) if row["accuracy"] != "nan"]
    worst = min(rows, key=lambda row: float(row["accuracy"]))
    check(f"worst {100 * float(worst['accuracy']):.1f} % client {worst['client']}" in story, story)
    quiet(page)
    picture(page, "report-1400-light")


def a_drag_zooms_all_plots_and_a_double_click_goes_back(world, browser):
    page = report_of(browser, world.quick())
    whole = ranges(page)
    check(len(whole) >= 4 and len(set(whole)) == 1 and whole[0], whole)
    box = page.run("(() => { const b = document.querySelector('#well .u-over').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    page.drag(box[0] + box[2] * .3, box[1] + 30, box[0] + box[2] * .6, box[1] + 40)
    page.until("location.hash.includes('x=')")
    near = ranges(page)
    check(len(set(near)) == 1 and near[0] != whole[0], near)
    page.click(box[0] + box[2] * .5, box[1] + 50)
    page.click(box[0] + box[2] * .5, box[1] + 50, 2)
    page.until("!location.hash.includes('x=')")
    same(ranges(page), whole)
    quiet(page)


def another_axis_is_that_of_every_plot_and_stands_in_the_address(world, browser):
    page = report_of(browser, world.quick())
    page.run("[...document.querySelectorAll('#controls input')].find(i => i.value === 'bits').click()")
    page.until("location.hash.includes('axis=bits')")
    last = table(os.path.join(world.quick(), "metrics.csv"))[-1]
    end = float(ranges(page)[0].split("..")[1])
    check(math.isclose(end, float(last["paper_bits"]), rel_tol=1e-6), end)
    quiet(page)


def the_cursor_reads_the_same_instant_in_all_plots(world, browser):
    page = report_of(browser, world.quick())
    box = page.run("(() => { const b = document.querySelector('#well .u-over').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    page.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0] + box[2] / 2, "y": box[1] + 50})
    page.until("new Set([...document.querySelectorAll('#well .readout, #loss .readout, #apart .readout')].map(r => r.firstChild.textContent)).size === 1")
    check(page.run("document.querySelector('#well .readout').textContent.includes('worst')"))
    quiet(page)


def the_score_tells_the_story_of_a_message(world, browser):
    page = report_of(browser, world.quick())
    page.run("document.querySelector('#score canvas.score').focus()")
    page.key("j", "j")
    page.until("document.querySelector('#score .story').textContent.startsWith('Client ')")
    story = page.run("document.querySelector('#score .story').textContent")
    found = re.match(r"Client (\d+) sent to client (\d+) at ([\d.]+) s", story)
    check(found, story)
    sender, receiver = int(found[1]), int(found[2])
    check((sender - receiver) % 25 in (1, 24), "the ring has no such link:", story)
    for key in ("+", "-", "ArrowRight", "ArrowLeft"):
        page.key(key, key if len(key) == 1 else None)
    quiet(page)


def a_picture_says_its_numbers(world, browser):
    page = report_of(browser, world.quick())
    page.key("n", "n")
    page.until("document.querySelectorAll('details.numbers[open] table').length > 4")
    rows = page.run(READ_TABLE + "('#loss details.numbers table')")
    metrics = table(os.path.join(world.quick(), "metrics.csv"))
    same(len(rows) - 1, len(metrics))
    check(math.isclose(float(rows[1][1]), float(metrics[0]["loss_mean"]), rel_tol=1e-9), rows[1])
    quiet(page)


def a_logarithmic_plot_without_a_positive_number_does_not_stop_the_page(world, browser):
    page = report_of(browser, world.run("one-measured", "quickstart.toml", "until=5.5", "metrics.clients=1"))
    same(page.run("[...new Set(JSON.parse(document.getElementById('data').textContent).samples.rows.map(row => row[JSON.parse("
                  "document.getElementById('data').textContent).samples.columns.indexOf('consensus')]))]"), [0])
    for scale in ("log", "lin", "auto"):
        page.run(f"[...document.querySelectorAll('#controls input')].find(i => i.value === '{scale}').click()")
        page.until("document.querySelectorAll('#apart .u-over').length === 1")
    quiet(page)


def dark_and_light_follow_the_reader(world, browser):
    page = report_of(browser, world.quick(), dark=True)
    dark = page.run("getComputedStyle(document.body).backgroundColor")
    ink = page.picture()
    picture(page, "report-1400-dark")
    page.theme(False)
    page.until(f"getComputedStyle(document.body).backgroundColor !== '{dark}'")
    check(page.picture() != ink)
    quiet(page)


def four_hundred_pixels_are_enough(world, browser):
    page = report_of(browser, world.quick(), width=400, touch=True)
    check(page.run("document.documentElement.scrollWidth") <= 400, "the page is wider than the screen")
    wide = page.run("[...document.querySelectorAll('canvas')].filter(c => c.getBoundingClientRect().right > 401).length")
    same(wide, 0, "pictures reach beyond the screen")
    box = page.run("(() => { const o = document.querySelector('#well .u-over'); o.scrollIntoView(); const b = o.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")
    x, y = box[0] + box[2] / 3, box[1] + box[3] / 2
    page.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    page.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.until("!/at 60/.test(document.querySelector('#well .readout').textContent)")
    two = [{"x": x, "y": y, "id": 1}, {"x": x + 40, "y": y, "id": 2}]
    page.call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": two})
    for step in (10, 25, 40):
        page.call("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x - step, "y": y, "id": 1}, {"x": x + 40 + step, "y": y, "id": 2}]})
    page.call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.until("location.hash.includes('x=')")
    quiet(page)
    picture(page, "report-400-light")


# Which words of pictures were drawn, and which of them reach beyond their canvas.
WATCH_WORDS = """(() => {
  window.words = {drawn: [], cut: []};
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    const glyphs = this.measureText(text), {a, b, e} = this.getTransform();
    const from = a * (x - glyphs.actualBoundingBoxLeft) + e, to = a * (x + glyphs.actualBoundingBoxRight) + e;
    words.drawn.push(String(text));
    if (b === 0 && (from < 0 || to > this.canvas.width)) words.cut.push(`${text}: ${from} to ${to} of ${this.canvas.width}`);
    return draw.call(this, text, x, y, ...more);
  };
})()"""


def no_word_of_a_picture_is_cut(world, browser):
    for width, scale in ((360, 1), (400, 1), (400, 3), (1400, 1)):
        for folder, ends in ((world.quick(), ("%", ")")), (world.comparison(), ("eta=0.02", "eta=0.05"))):
            page = Page(browser, width=width, scale=scale, touch=width < 600)
            page.before_pages(WATCH_WORDS)
            page.open(f"file://{folder}/report.html")
            page.run("new Promise(requestAnimationFrame)")
            same(page.run("words.cut"), [], folder, width, scale)
            for end in ends:
                check(page.run(f"words.drawn.some(text => text.endsWith('{end}'))"), "a label has lost its end", end)


def paper_breaks_between_cards_alone(world, browser):
    page = report_of(browser, world.quick())
    data = page.print(os.path.join(pictures, "report.pdf") if pictures and os.path.isdir(pictures) else None)
    check(data.startswith(b"%PDF"))
    # Each card that fits on a sheet begins and ends on the same: the layout for paper is asked for by the same rules.
    page.call("Emulation.setEmulatedMedia", {"media": "print"})
    broken = page.run("[...document.querySelectorAll('.card:not(#clients):not(#again)')].filter(c => getComputedStyle(c).breakInside !== 'avoid').length")
    same(broken, 0, "cards that may be torn")
    same(page.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
    same(page.run("[...document.querySelectorAll('#clients th button')].filter(b => getComputedStyle(b).display === 'none').length"), 0)
    page.size(700)
    page.run("dispatchEvent(new Event('beforeprint'))")
    check(page.run("document.querySelector('#again details').open"), "the file is unfolded on paper")
    page.run("dispatchEvent(new Event('afterprint'))")
    check(not page.run("document.querySelector('#again details').open"))
    tables_fit_on_paper(page)
    other = Page(browser, width=700)
    other.open(f"file://{world.comparison()}/report.html")
    other.call("Emulation.setEmulatedMedia", {"media": "print"})
    tables_fit_on_paper(other)
    quiet(page)


def the_worst_client_and_the_worst_link_are_named(world, browser):
    folder = world.quick()
    page = Page(browser)
    page.open(f"file://{folder}/report.html")
    links = [row for row in table(os.path.join(folder, "links.csv")) if int(row["sent"])]
    lost = [sum(int(row[name]) for name in ("lost", "lost_to_partition", "lost_to_absence")) / int(row["sent"]) for row in links]
    worst = links[lost.index(max(lost))]
    said = page.run("document.querySelector('#links .note').textContent")
    check(said.startswith(f"Most is lost from {worst['sender']} → {worst['receiver']}, {100 * max(lost):.2f} % of {worst['sent']};"), said, worst)
    clients = table(os.path.join(folder, "clients.csv"))
    accuracies = [float(row["accuracy"]) for row in clients]
    client = accuracies.index(min(accuracies))
    rows = sorted(int(row["training_samples"]) for row in clients)
    said = page.run("document.querySelector('#behind .beside').textContent")
    check(said.startswith(f"The worst, client {client}: {100 * min(accuracies):.1f} %; training rows {clients[client]['training_samples']} "
                          f"(median {rows[len(rows) // 2]})"), said)
    quiet(page)


def tables_fit_on_paper(page):
    wide = page.run("[...document.querySelectorAll('.card table')].filter(t => t.checkVisibility() && "
                    "t.getBoundingClientRect().right > t.closest('.card').getBoundingClientRect().right)"
                    ".map(t => t.closest('.card').querySelector('h2').textContent)")
    same(wide, [], "tables that reach beyond their cards")


def tables_fit_on_the_screen(page):
    cut = page.run("[...document.querySelectorAll('.card .scrolled')].filter(s => !s.closest('details') && s.checkVisibility() && s.scrollWidth > s.clientWidth + 1)"
                   ".map(s => s.closest('.card').querySelector('h2').textContent)")
    same(cut, [], "tables of which columns are hidden")


def a_comparison_pairs_its_seeds(world, browser):
    folder = world.comparison()
    page = Page(browser)
    page.open(f"file://{folder}/report.html")
    with open(os.path.join(folder, "table.json")) as text:
        made = json.load(text)
    ends = [{run["seed"]: run["end"]["accuracy"] for run in setting["runs"]} for setting in made["settings"]]
    means = [sum(one.values()) / len(one) for one in ends]
    top = means.index(max(means))
    other = 1 - top
    differences = [100 * (ends[other][seed] - ends[top][seed]) for seed in ends[top]]
    mean = sum(differences) / 3
    half = 4.303 * math.sqrt(sum((d - mean) ** 2 for d in differences) / 2) / math.sqrt(3)
    page.run("document.querySelector('#paired details.numbers').open = true")
    page.until("document.querySelectorAll('#paired details.numbers td').length > 3")
    row = page.run(READ_TABLE + "('#paired details.numbers table')")[1]
    check(math.isclose(float(row[3]), mean, rel_tol=1e-9, abs_tol=1e-9), row, mean)
    check(math.isclose(float(row[4]), mean - half, rel_tol=1e-3, abs_tol=1e-9), row, mean - half)
    check(page.run("document.getElementById('story').textContent").startswith(made["settings"][top]["setting"]))
    tables_fit_on_the_screen(page)
    curves = table(os.path.join(folder, "curves.csv"))
    for setting in made["settings"]:
        for run in setting["runs"]:
            own = [row for row in curves if row["setting"] == setting["setting"] and int(row["seed"]) == run["seed"]]
            check(math.isclose(float(own[-1]["accuracy"]), run["end"]["accuracy"]), "table.json and curves.csv")
            reached = next((float(r["bits"]) for r in own if float(r["accuracy"]) >= 0.5), None)
            costs = run["targets"][0]["costs"]
            check(reached is None and costs is None or math.isclose(costs["bits"], reached), "the target by seed")
    for key in ("seconds", "bits"):
        page.run(f"[...document.querySelectorAll('#controls input')].find(i => i.value === '{key}').click()")
    bits = [{run["seed"]: run["targets"][0]["costs"]["bits"] for run in setting["runs"]} for setting in made["settings"]]
    page.run("document.querySelector('#paired details.numbers').open = false")
    page.run("[...document.querySelectorAll('#paired input')].find(i => i.value === 'cost').click()")
    page.run("document.querySelector('#paired details.numbers').open = true")
    page.until("document.querySelectorAll('#paired details.numbers td').length > 3")
    row = page.run(READ_TABLE + "('#paired details.numbers table')")[1]
    factors = [math.log2(bits[other][seed] / bits[top][seed]) for seed in bits[top]]
    check(math.isclose(float(row[3]), sum(factors) / 3, rel_tol=1e-9, abs_tol=1e-9), "bits to the target", row, factors)
    quiet(page)
    picture(page, "comparison-1400-light")


def a_comparison_says_what_became_of_messages_and_who_is_worst(world, browser):
    folder = world.comparison()
    page = Page(browser)
    page.open(f"file://{folder}/report.html")
    with open(os.path.join(folder, "table.json")) as text:
        made = json.load(text)["settings"]
    page.run("document.querySelector('#messages details.numbers').open = true")
    page.until("document.querySelectorAll('#messages details.numbers td').length > 3")
    heads, *rows = page.run(READ_TABLE + "('#messages details.numbers table')")
    runs = [(setting, run) for setting in made for run in setting["runs"]]
    same(len(rows), len(runs))
    for row, (setting, run) in zip(rows, runs):
        same(row[:2], [setting["setting"], str(run["seed"])])
        for name, value in zip(heads[2:], row[2:]):
            same(value, str(run["came_to"]["messages"][name]), name)
    shown = page.run(READ_TABLE + "('#worst table')")
    for row, setting in zip(shown[1:], made):
        same(row[2], ", ".join(str(run["came_to"]["worst_client"]["client"]) for run in setting["runs"]))
    told, again = made[0]["runs"][0], os.path.join(world.home, "again")
    world.command("run", os.path.join(folder, told["experiment"]), "--out", again)
    with open(os.path.join(again, "summary.json")) as text:
        same(json.load(text)["messages"], told["came_to"]["messages"])
    worst = min(table(os.path.join(again, "clients.csv")), key=lambda client: float(client["accuracy"]))
    same(worst["client"], str(told["came_to"]["worst_client"]["client"]))
    check(page.run("document.getElementById('unification').textContent").find("every 10 s, 4 times in a run") > 0)
    quiet(page)


# --- the larger set


def churn_is_shown_and_counted(world, browser):
    folder = world.run("flaky", "churn/flaky.toml")
    page = report_of(browser, folder)
    headline_numbers(page, folder)
    numbers_of_messages(page, folder)
    axes_are_monotone(page)
    check(page.run("!!document.getElementById('presence')"), "who is there")
    events = page.run("JSON.parse(document.getElementById('data').textContent).events.map(e => e[1])")
    for what in ("crash", "come", "partition", "heal", "unification"):
        check(what in events, what)
    quiet(page)
    picture(page, "churn-1400-light")


def a_radio_cell_has_its_places(world, browser):
    folder = world.run("wireless", "channels/wireless.toml", "until=20")
    page = report_of(browser, folder)
    headline_numbers(page, folder)
    numbers_of_messages(page, folder)
    axes_are_monotone(page)
    quiet(page)
    picture(page, "wireless-1400-light")


def real_time_names_its_clock(world, browser):
    folder = world.run("wall", "quickstart.toml", "clock=wall", "time_scale=20", "until=30")
    page = report_of(browser, folder)
    headline_numbers(page, folder)
    numbers_of_messages(page, folder)
    axes_are_monotone(page)
    headline = page.run("document.getElementById('subtitle').textContent")
    check("virtual" not in headline, headline)
    quiet(page)


def rounds_say_who_waits(world, browser):
    folder = world.run("rounds", "algorithms/fedavg.toml", "until=30")
    page = report_of(browser, folder)
    numbers_of_messages(page, folder)
    check("Clients waited" in page.run("document.getElementById('waits').textContent"))
    quiet(page)
    page = report_of(browser, world.run("lockstep", "algorithms/nids.toml", "until=30"))
    folder = world.made["lockstep"]
    path = table(os.path.join(folder, "critical_path.csv"))
    same(float(path[0]["from"]), 0.0)
    for one, next_one in zip(path, path[1:]):
        same(one["to"], next_one["from"], "a gap in the path")
    text = page.run("document.getElementById('path').textContent")
    check(f"The last merge, of client {path[-1]['client']}, came at" in text and f"has {len(path)} pieces" in text, text)
    page.call("Emulation.setEmulatedMedia", {"media": "print"})
    page.size(700)
    tables_fit_on_paper(page)
    page.call("Emulation.setEmulatedMedia", {"media": ""})
    at_work = sum(float(row["to"]) - float(row["from"]) for row in path if row["what"] == "work")
    check(f"{100 * at_work / float(path[-1]['to']):.1f} % of the time clients compute" in text, text)
    quiet(page)


def many_clients_fit(world, browser):
    folder = world.run("many", "quickstart.toml", "clients.count=1000", "until=40.5", "data.partition.kind=iid", "metrics.clients=20", "model.name=softmax")
    size = os.path.getsize(os.path.join(folder, "report.html"))
    check(size < 1.5e6, f"{size} bytes")
    page = report_of(browser, folder)
    numbers_of_messages(page, folder)
    check("20 of 1,000 clients are measured" in page.run("document.getElementById('warnings').textContent"))
    quiet(page)
    picture(page, "many-1400-light")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_server(port, process):
    end = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            check(process.poll() is None, "the command has ended before it served a page")
            check(time.monotonic() < end, "no server")
            time.sleep(0.1)


def end_process(process):
    if process.poll() is None:
        process.kill()
        process.wait()


def a_live_page_goes_on_without_gap_or_double_and_becomes_the_report(world, browser):
    folder = os.path.join(world.home, "live")
    port = free_port()
    command = [world.rubato, "run", os.path.join(world.tree, "examples/quickstart.toml"), "--set", "clock=wall", "--set", "time_scale=5",
               "--set", "until=200", "--set", "metrics.every_seconds=1", "--out", folder, "--serve", str(port), "--quiet"]
    process = subprocess.Popen(command, cwd=world.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = Page(browser)
        await_server(port, process)
        page.open(f"http://127.0.0.1:{port}/")
        page.until("window.rubato.held().rows > 3")
        before = page.run("window.rubato.held().rows")
        page.until(f"window.rubato.held().rows > {before} + 3")
        # The connection is cut where it stands; the page finds its way back with its cursor.
        page.call("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
        page.run("window.rubato.drop()")
        time.sleep(1.2)
        page.call("Network.emulateNetworkConditions", {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
        cut = page.run("window.rubato.held().rows")
        page.until(f"window.rubato.held().rows > {cut} + 2", 30)
        seconds = page.run("window.rubato.held().seconds")
        check(all(a < b for a, b in zip(seconds, seconds[1:])), "doubled or out of order")
        picture(page, "live-1400-light")
        page.until("document.documentElement.dataset.ended === 'yes'", 60)
        page.until("!!document.getElementById('again')")
        process.wait(30)
        numbers_of_messages_from_files(page, folder)
        metrics = [float(row["seconds"]) for row in table(os.path.join(folder, "metrics.csv"))]
        held = page.run("window.rubato.held().seconds")
        same(len(held), len(metrics), "samples")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def seconds_in(folder):
    """Of the rows of metrics.csv, wherever the folder is by now; a last line without its end is none."""
    for place in (folder, folder + ".partial"):
        try:
            with open(os.path.join(place, "metrics.csv"), newline="") as text:
                whole = text.read()
        except OSError:
            continue
        return [float(row["seconds"]) for row in csv.DictReader(whole[: whole.rfind("\n") + 1].splitlines())]
    return []


def a_server_that_is_killed_and_started_again_leaves_no_gap_and_no_double(world, browser):
    folder = os.path.join(world.home, "served")
    port = free_port()
    run = subprocess.Popen([world.rubato, "run", os.path.join(world.tree, "examples/quickstart.toml"), "--set", "clock=wall", "--set",
                            "time_scale=5", "--set", "until=150", "--set", "metrics.every_seconds=1", "--out", folder, "--quiet"],
                           cwd=world.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = None

    def serve():
        started = subprocess.Popen([world.rubato, "serve", folder, "--listen", str(port)], cwd=world.home, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        await_server(port, started)
        return started

    try:
        end = time.monotonic() + 120
        while len(seconds_in(folder)) < 2:
            check(time.monotonic() < end and run.poll() is None, "the run does not begin")
            time.sleep(0.1)
        server = serve()
        page = Page(browser)
        page.open(f"http://127.0.0.1:{port}/")
        page.until("window.rubato?.held().rows > 3", 60)
        for _ in range(2):
            before = page.run("[window.rubato.held().rows, window.rubato.held().runId]")
            server.kill()
            server.wait()
            page.until("/connection is lost/.test(document.querySelector('.state').textContent)", 60)
            check(len(seconds_in(folder)) >= before[0])
            server = serve()
            page.until(f"window.rubato.held().rows > {before[0]} + 2", 120)
            same(page.run("window.rubato.held().runId"), before[1], "the page began anew")
            held = page.run("window.rubato.held().seconds")
            same(held, seconds_in(folder)[: len(held)], "rows of metrics.csv")
        page.until("document.documentElement.dataset.ended === 'yes'", 180)
        run.wait(60)
        same(page.run("window.rubato.held().seconds"), seconds_in(folder), "rows of metrics.csv at the end")
        headline_numbers(page, folder)
    finally:
        end_process(run)
        if server:
            end_process(server)


class Party:
    """Three hosts of one run in real time on this machine."""

    def __init__(self, world, name, until, time_scale):
        self.world, self.home, self.processes = world, os.path.join(world.home, name), {}
        os.makedirs(self.home)
        self.file = os.path.join(self.home, "three.toml")
        roster = ""
        for host in "abc":
            world.command("keygen", host, "--out", self.home)
            with open(os.path.join(self.home, host + ".public")) as key:
                roster += f'\n[[roster]]\nname = "{host}"\naddress = "tcp://127.0.0.1:{free_port()}"\npublic_key = "{key.read()[:40]}"\n'
        with open(self.file, "w") as text:
            text.write(f"""name = "three"
seed = 3
clock = "wall"
time_scale = {time_scale}
until = {until}
checkpoint_every = {time_scale}
[hosts]
wait = 600.0
lost_after = 2.0
[clients]
count = 9
compute = {{ law = "poisson", rate = 2.0 }}
[topology]
kind = "ring"
[mailbox]
window = 0.2
deadline = 4.0
[algorithm]
name = "draco"
eta = 0.1
[data]
name = "digits"
[model]
name = "softmax"
batch = 16
[metrics]
every_events = 0
every_seconds = {time_scale}
test_samples = 300
{roster}""")

    def start(self, host, *more):
        self.processes[host] = subprocess.Popen([self.world.rubato, "node", self.file, "--host", host, "--out", os.path.join(self.home, host),
                                                 "--quiet", "--threads", "1", *more], cwd=self.home, stdout=subprocess.DEVNULL,
                                                stderr=open(os.path.join(self.home, host + ".said"), "a"))
        return self.processes[host]

    def folder(self, host):
        return os.path.join(self.home, host)

    def summary(self, host):
        with open(os.path.join(self.folder(host), "summary.json")) as text:
            return json.load(text)

    def end(self):
        for process in self.processes.values():
            end_process(process)


def hosts_add_up(page, party):
    """The page of the host that gathered, against its files and those of the others."""
    first = party.summary("a")
    same(first["gathered_by"], "")
    same(first["absent_clients"], [])
    folder = party.folder("a")
    headline_numbers(page, folder)
    numbers_of_messages(page, folder)
    clients = table(os.path.join(folder, "clients.csv"))
    rows = page.run(READ_TABLE + "('#by-host table')")
    heads = rows[0]
    same([row[0] for row in rows[1:]], ["a (this one)", "b", "c", "all"])
    names = {"computations": "computations", "sent": "sent", "kept": "kept", "too late": "late"}
    for head, column in names.items():
        if head not in heads:
            continue
        place = heads.index(head)
        shown = [int(row[place].replace(",", "")) for row in rows[1:]]
        sums = [sum(int(row[column]) for row in clients[3 * host: 3 * host + 3]) for host in range(3)]
        same(shown, sums + [sum(sums)], head)
    place = heads.index("sent")
    same(int(rows[4][place].replace(",", "")), first["messages"]["sent"], "sent by all hosts")
    for host, own in (("b", range(3, 6)), ("c", range(6, 9))):
        theirs = party.summary(host)
        same(theirs["gathered_by"], "a")
        with_them = table(os.path.join(party.folder(host), "clients.csv"))
        for column in ("computations", "sent", "kept", "late", "lost", "accuracy"):
            same([clients[i][column] for i in own], [with_them[i][column] for i in own], host, column)
        same(sum(int(clients[i]["sent"]) for i in own), theirs["messages"]["sent"], host, "sent")
        same(sum(int(clients[i]["kept"]) for i in own), theirs["messages"]["delivered"], host, "kept")


HOST_TABLE = f"{READ_TABLE}('#hosts > div table')"
NUMBERS_OF_HOSTS = """(() => {
  const details = document.querySelector('#hosts details.numbers');
  details.open = true;
  return new Promise(done => setTimeout(() => done(READ('#hosts details.numbers table')), 200));
})()""".replace("READ", READ_TABLE)


def hosts_said_what_they_wrote(told, drawn, party):
    """What the page of a was told of each host's clients, and has drawn, against the samples in the host's own folder."""
    for number, host in enumerate("abc"):
        samples = {float(row["seconds"]): row for row in table(os.path.join(party.folder(host), "metrics.csv"))}
        rows = [row for row in told if row[0] == number and row[2] is not None]
        check(len(rows) > 2, host, len(rows))
        line = {float(row[0]): row[1 + number] for row in drawn[1:] if row[1 + number] != "–"}
        for _, at, measured, accuracy, worst, worst_client, loss in rows:
            if host == "c" and at not in samples:  # told, and not yet written when it was killed
                continue
            own = samples[at]
            same(measured, 3)
            same([accuracy, worst, worst_client, loss], [float(own[name]) for name in ("accuracy_mean", "accuracy_min", "accuracy_min_client", "loss_mean")], host, at)
            if at in line:
                same(float(line[at]), accuracy, host, at)
    check(any(row[0] == 2 and row[2] is None for row in told), "the line of a killed host has a gap")


def a_host_that_is_killed_is_named_with_the_time_it_fell_silent_and_the_hosts_add_up(world, browser):
    party = Party(world, "three", until=300, time_scale=5)
    port = free_port()
    try:
        # The page is there before the run begins, which waits for its hosts: however slow the browser, it sees all of it.
        party.start("a", "--serve", str(port))
        await_server(port, party.processes["a"])
        page = Page(browser)
        page.open(f"http://127.0.0.1:{port}/")
        party.start("b")
        victim = party.start("c")
        page.until("window.rubato?.held().rows > 2", 120)
        page.until(f"{HOST_TABLE}.slice(1).every(row => / %/.test(row[3]) && / %/.test(row[4]))", 60)
        at = page.run("Math.max(...window.rubato.held().seconds)")
        victim.kill()
        victim.wait()
        silent = "[...document.querySelectorAll('#warnings li')].map(li => li.textContent).find(text => /^Host c has been silent for [0-9.]+ s, since [0-9.]+ s of the run[.]$/.test(text))"
        page.until(silent, 60)
        said = page.run(silent)
        since = float(re.search(r"since ([0-9.]+) s", said)[1])
        now = page.run("Number(document.querySelector('[role=progressbar]').getAttribute('aria-valuenow'))") * 3
        check(at - 6 <= since <= now + 3, said, at, now)
        page.until("/host c lost/.test(document.querySelector('#log').textContent)", 60)
        page.until(f"/ ago$/.test({HOST_TABLE}[3][8])", 60)
        said = page.run(f"{HOST_TABLE}[3]")
        page.until(f"{HOST_TABLE}[3][8] !== {json.dumps(said[8])}", 60)
        same(page.run(f"{HOST_TABLE}[3].slice(2, 8)"), said[2:8], "what a killed host said last stays")
        check(" %" in said[3] and said[2] == "3", said)
        check("not finite" not in page.run("document.getElementById('hosts').textContent"), "what is not known of a host is a dash")
        check(page.run("document.getElementById('story').textContent").split(" s ", 1)[1].startswith("clients of host a have"))
        picture(page, "hosts-live-1400-light")
        party.start("c")
        page.until(f"!{silent}", 120)
        page.until(f"!/ ago$/.test({HOST_TABLE}[3][8])", 60)
        told = page.run("fetch('/api/v1/views').then(answer => answer.json()).then(frame => frame.rows)")
        drawn = page.run(NUMBERS_OF_HOSTS)
        same(drawn[0], ["seconds", "host a", "host b", "host c"])
        page.until("document.documentElement.dataset.ended === 'yes'", 240)
        for host, process in party.processes.items():
            same(process.wait(120), 0, "exit code of host", host)
        hosts_add_up(page, party)
        hosts_said_what_they_wrote(told, drawn, party)
        with open(os.path.join(party.folder("a"), "events.csv"), newline="") as text:
            told = [(row["what"], row["host"]) for row in csv.DictReader(text)]
        same(told, [("host lost", "c"), ("host back", "c")])
        check("Marks below are hosts that come and go." in page.run("document.querySelector('#well .how').textContent"))
        picture(page, "hosts-1400-light")
        report_of(browser, party.folder("b"))
    finally:
        party.end()


def numbers_of_messages_from_files(page, folder):
    with open(os.path.join(folder, "summary.json")) as text:
        messages = json.load(text)["messages"]
    shown = page.run(READ_TABLE + "('#outcomes table')")[1]
    same(int(shown[1].replace(",", "")), messages["sent"], "the report at the end")


small = [a_report_says_what_the_files_of_its_run_say, a_drag_zooms_all_plots_and_a_double_click_goes_back,
         another_axis_is_that_of_every_plot_and_stands_in_the_address, the_cursor_reads_the_same_instant_in_all_plots,
         the_score_tells_the_story_of_a_message, a_picture_says_its_numbers,
         a_logarithmic_plot_without_a_positive_number_does_not_stop_the_page, dark_and_light_follow_the_reader,
         four_hundred_pixels_are_enough, no_word_of_a_picture_is_cut,
         paper_breaks_between_cards_alone, the_worst_client_and_the_worst_link_are_named, a_comparison_pairs_its_seeds,
         a_comparison_says_what_became_of_messages_and_who_is_worst]
large = [churn_is_shown_and_counted, a_radio_cell_has_its_places, real_time_names_its_clock, rounds_say_who_waits, many_clients_fit,
         a_live_page_goes_on_without_gap_or_double_and_becomes_the_report,
         a_server_that_is_killed_and_started_again_leaves_no_gap_and_no_double,
         a_host_that_is_killed_is_named_with_the_time_it_fell_silent_and_the_hosts_add_up]


def main():
    rubato, tree = (os.path.abspath(path) for path in sys.argv[1:3])
    if not shutil.which("chromium"):
        print("there is no chromium here")
        sys.exit(77)
    wanted = [name for name in sys.argv[3:] if not name.startswith("--")]
    cases = [one for one in small + (large if "--all" in sys.argv or wanted else []) if not wanted or one.__name__ in wanted]
    world, failed = World(rubato, tree), 0
    try:
        with Browser() as browser:
            for case in cases:
                name = case.__name__.replace("_", " ")
                try:
                    case(world, browser)
                    print(f"ok    {name}", flush=True)
                except (Failure, KeyError, IndexError, TypeError, ValueError, OSError, subprocess.TimeoutExpired, zlib.error):
                    failed += 1
                    print(f"FAULT {name}\n{traceback.format_exc()}", flush=True)
    finally:
        world.close()
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
