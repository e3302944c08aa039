# A stopped notebook's link offers to start it, and one that waits says why in the words of `vcctl explain`. Prints the failed facts.
# usage: notebook_states.py SERVER LINK VOLCANO      (default/two runs, default/cards waits for a GPU)
import html, re, subprocess, sys, time
from notebook_browser import Browser

server, link, volcano = sys.argv[1:4]
failed = []


def fact(what, is_so, saw=""):
    if not is_so: failed.append(f"{what}: {saw}")


def until(what, ask, seconds=60):
    end = time.monotonic() + seconds
    while True:
        saw = ask()
        if what in saw.text: return saw
        if time.monotonic() > end: raise SystemExit(f"waited in vain for {what!r}: {saw.text[:400]}")
        time.sleep(0.3)


person = Browser()
address = server + "/notebook/default/two/"
until("notebook of /notebook/default/two", lambda: person.visit(link + "&to=/notebook/default/two/") if not person.cookies else person.visit(address))
subprocess.run([volcano, "notebook", "stop", "two"], check=True, stdout=subprocess.DEVNULL)
stopped = until("It is stopped.", lambda: person.visit(address))
fact("the state is a document of the page's origin", stopped.url.startswith(server + "/ui/notebook?"), stopped.url)
action = html.unescape(re.search(r'action="([^"]*)"', stopped.text).group(1))
headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
started = person.request(server + action.split("&proof")[0], "POST", {**headers, "Origin": server})
fact("no start without the proof", started.status == 403, started.status)
started = person.request(server + action, "POST", {**headers, "Origin": server})
fact("a start by the form", started.status == 303, f"{started.status} {started.read()[:200]}")
until("notebook of /notebook/default/two", lambda: person.visit(address))

waits = until("It waits: ", lambda: person.visit(server + "/notebook/default/cards/"))
end = time.monotonic() + 30
while True:
    told = subprocess.run([volcano, "vcctl", "explain", "pod", "-N", "cards-0"], capture_output=True, text=True).stdout
    reason = next((line[len("it waits: "):] for line in told.splitlines() if line.startswith("it waits: ")), None)
    shown = html.unescape(re.search(r"It waits: ([^<]*)<", person.visit(server + "/notebook/default/cards/").text).group(1))
    if reason and shown == reason: break
    if time.monotonic() > end:
        fact("the words of explain", False, f"{shown!r}, not {reason!r}")
        break
    time.sleep(0.5)
missing = person.visit(server + "/notebook/default/none/")
fact("a notebook that is not there", missing.status == 404 and "There is no notebook default/none" in missing.text, missing.text[:200])

for line in failed: print(line)
sys.exit(1 if failed else 0)
