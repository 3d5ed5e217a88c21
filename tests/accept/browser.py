"""Chromium without a window, steered over a pipe in its own protocol: only what Python brings."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PATIENCE = 60  # seconds that an answer may take


def find():
    """The path of a Chromium, or None."""
    wanted = os.environ.get("CHROMIUM")
    names = (wanted,) if wanted else NAMES
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One page in one process. `events` are all that it told, as (method, parameters)."""

    def __init__(self, path, width=1400, height=850, dark=False):
        self.folder = tempfile.mkdtemp(prefix="memsnap-browser.")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        os.set_inheritable(to_read, True)
        os.set_inheritable(to_write, True)
        arguments = [
            path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-default-apps", "--disable-sync", "--hide-scrollbars", "--mute-audio",
            f"--user-data-dir={self.folder}", f"--window-size={width},{height}",
            "--remote-debugging-pipe", "about:blank",
        ]
        # The protocol wants descriptors 3 and 4.
        script = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(["sh", "-c", script, "sh", *arguments], close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self.events = []
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self, deadline):
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise EOFError("the browser ended")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self._number += 1
        number = self._number
        request = {"id": number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._out, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self._message(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.events.append((message["method"], message["params"]))

    def told(self, method):
        return [parameters for name, parameters in self.events if name == method]

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded."""
        self.go("about:blank")
        self.go(Path(path).resolve().as_uri() + fragment)
        self.settle()

    def go(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE
        while not self.told("Page.loadEventFired"):
            message = self._message(deadline)
            if "method" in message:
                self.events.append((message["method"], message["params"]))

    def settle(self):
        """Until what was asked for is drawn: two frames."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.settle()

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, buttons=1)
        self.settle()

    def drag(self, x0, y0, x1, y1, steps=5):
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1, buttons=1)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps,
                       button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)
        self.settle()

    def wheel(self, x, y, by, **more):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by, **more)
        self.settle()

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(base64.b64decode(data))
