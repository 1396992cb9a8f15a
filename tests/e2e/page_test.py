"""Pages of plumb: their outline, and what a headless browser makes of them."""

import html.parser
import http.server
import re
import shutil
import subprocess
import threading

from plumb_test import PlumbTest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--enable-logging=stderr", "--virtual-time-budget=5000", "--window-size=1200,900"]


class Outline(html.parser.HTMLParser):
    """Elements with their attributes, and the visible text."""

    def __init__(self, document):
        super().__init__()
        self.elements, self.text, self._hidden = [], "", 0
        self.feed(document)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data):
        self.text += "" if self._hidden else data

    def count(self, tag, **attributes):
        return sum(1 for name, found in self.elements
                   if name == tag and all(found.get(key) == value for key, value in attributes.items()))


def rows(page, name):
    """Tables of a section, as lists of cells."""
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.S)[0]
    return [[Outline(cell).text for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.S)]
            for row in re.findall(r"<tr>.*?</tr>", found, re.S)]


class Server:
    """Serves one page on the loopback and remembers what was asked for."""

    def __init__(self, page):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                found = self.path == "/report.html"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page if found else b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class BrowserTest(PlumbTest):
    def browse(self, url):
        done = subprocess.run([CHROMIUM, *OPTIONS, f"--user-data-dir={self.scratch / 'profile'}", "--dump-dom", url],
                              capture_output=True, text=True, timeout=120, errors="replace")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, console

    def browse_page(self, page):
        with Server(page) as server:
            document, console = self.browse(f"{server.url}/report.html")
            return document, console, [path for path in server.asked if path != "/favicon.ico"]
