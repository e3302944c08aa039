# Notebooks by way of `volcano ui` and the API server's proxy. Prints the failed facts, one a line.
# usage: notebook_loopback.py LINK      (http://127.0.0.1:8877/ui/login?code=...)
import sys
from notebook_browser import Browser

link = sys.argv[1]
server = link.split("/ui/")[0]
failed = []


def fact(what, is_so, saw=""):
    if not is_so: failed.append(f"{what}: {saw}")


person = Browser()
opened = person.visit(link + "&to=/notebook/ann/one/")
fact("a link leads to the notebook", opened.status == 200 and "notebook of /notebook/ann/one" in opened.text, opened.text[:200])
home = opened.url.split("/notebook")[0]
fact("its origin is another one", home != server, home)
notebook = home + "/notebook/ann/one"
seen = person.fetch(notebook + "/headers", home).text
fact("no credentials reach it", "volcano-page" not in seen and "volcano-notebook" not in seen and "Authorization" not in seen, seen)
fact("redirects stay on its origin", person.visit(notebook + "/moved", "same-origin").url == notebook + "/lab?x=1")
fact("a stream comes as it is made", person.request(notebook + "/ticks").read(15) == b"tick\ntick\ntick\n")
fact("a stream both ways", person.web_socket(notebook + "/ws", home) == (101, b"echo hello"))
fact("a body", person.fetch(notebook + "/", home, "POST", b"x" * 1_000_000).text == "1000000")
bobs = person.visit(server + "/notebook/bob/one/").url.split("/notebook")[0]
fact("another namespace's page reaches nothing", person.fetch(notebook + "/headers", bobs).status == 403)
fact("nor by a stream", person.web_socket(notebook + "/ws", bobs)[0] == 403)
fact("nor the API", person.fetch(server + "/api/v1/namespaces", home).status == 403)
missing = person.visit(server + "/notebook/ann/none/")
fact("a notebook that is not there is named", missing.status == 404 and "There is no notebook ann/none" in missing.text, missing.text[:300])

for line in failed: print(line)
sys.exit(1 if failed else 0)
