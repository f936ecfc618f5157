"""A headless Chromium over the DevTools protocol, spoken through a pipe: no port, no other package."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Failure(Exception):
    pass


class Browser:
    def __init__(self, binary="chromium"):
        self.profile = tempfile.mkdtemp(prefix="rubato-page-")
        to_read, from_us = os.pipe()
        from_it, to_write = os.pipe()

        def connect():  # the browser reads its commands from 3 and answers on 4
            low, high = os.dup(to_read), os.dup(to_write)
            os.dup2(low, 3)
            os.dup2(high, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
             "--force-color-profile=srgb", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.out, self.into = from_us, from_it
        self.buffer, self.number, self.events = b"", 0, []

    def close(self):
        try:
            self.call("Browser.close")
        except Failure:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def message(self, patience):
        """The next message of the browser; None after so many seconds."""
        end = time.monotonic() + patience
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            read = os.read(self.into, 1 << 20)
            if not read:
                raise Failure("the browser has gone")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, params=None, session=None, patience=60):
        self.number += 1
        number = self.number
        command = {"id": number, "method": method, "params": params or {}}
        if session:
            command["sessionId"] = session
        try:
            os.write(self.out, json.dumps(command).encode() + b"\0")
        except OSError as error:
            raise Failure(f"{method}: {error}") from error
        end = time.monotonic() + patience
        while True:
            answer = self.message(max(0, end - time.monotonic()))
            if answer is None:
                raise Failure(f"{method}: no answer")
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)


class Page:
    """A tab. What it says on its console, what goes wrong in it and what it asks of a network is kept."""

    def __init__(self, browser, width=1400, height=900, dark=False, scale=1, touch=False):
        self.browser = browser
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height, scale, touch)
        self.theme(dark)

    def call(self, method, params=None, patience=60):
        return self.browser.call(method, params, self.session, patience)

    def size(self, width, height=900, scale=1, touch=False):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": touch})
        self.call("Emulation.setTouchEmulationEnabled", {"enabled": touch, "maxTouchPoints": 2})

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def open(self, address, patience=60):
        self.call("Page.navigate", {"url": address}, patience)
        self.until("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'", patience)

    def before_pages(self, script):
        """Runs in every page that is opened from now on, before the page's own scripts."""
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def run(self, script):
        """The value of an expression, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, condition, patience=30):
        end = time.monotonic() + patience
        while not self.run(f"!!({condition})"):
            if time.monotonic() > end:
                raise Failure(f"never came true: {condition}")
            time.sleep(0.05)

    def picture(self, file=None, whole=False, clip=None):
        params = {"format": "png", "captureBeyondViewport": whole}
        if clip:
            params["clip"] = {**clip, "scale": 1}
        data = base64.b64decode(self.call("Page.captureScreenshot", params)["data"])
        if file:
            with open(file, "wb") as out:
                out.write(data)
        return data

    def print(self, file=None):
        data = base64.b64decode(self.call("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": False})["data"])
        if file:
            with open(file, "wb") as out:
                out.write(data)
        return data

    def drag(self, x1, y1, x2, y2):
        for kind, x, y in (("mouseMoved", x1, y1), ("mousePressed", x1, y1), ("mouseMoved", (x1 + x2) / 2, y2),
                           ("mouseMoved", x2, y2), ("mouseReleased", x2, y2)):
            self.call("Input.dispatchMouseEvent",
                      {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    def click(self, x, y, count=1):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count})

    def key(self, key, text=None):
        params = {"key": key, "code": key}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **params, **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **params})

    def complaints(self):
        """Every message on the console, every exception and every request that left the page."""
        self.run("0")  # what is on its way has come
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            params = event["params"]
            if event["method"] == "Runtime.consoleAPICalled":
                found.append("console: " + " ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
            elif event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append("exception: " + details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded":
                found.append("log: " + params["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                address = params["request"]["url"]
                if not address.startswith(("file:", "data:", "blob:", "about:")):
                    found.append("request: " + address)
        return found
