# Notebooks by way of their links, and the attacks of a notebook's page. Prints the failed facts, one a line.
# usage: notebook_attacks.py SERVER LINK-OF-ANN LINK-OF-BOB      (SERVER: https://127.0.0.1:6443)
import sys
from notebook_browser import Browser

server, ann_link, bob_link = sys.argv[1:4]
failed = []


def fact(what, is_so, saw=""):
    if not is_so: failed.append(f"{what}: {saw}")


ann, bob = Browser(), Browser()
opened = ann.visit(ann_link + "&to=/notebook/ann/one/")
fact("a link leads to the notebook", opened.status == 200 and "notebook of /notebook/ann/one" in opened.text, opened.text[:200])
home = opened.url.split("/notebook")[0]
fact("its origin is another one", home != server, home)
bob.visit(bob_link)
bobs = bob.visit(server + "/notebook/bob/one/").url.split("/notebook")[0]
fact("each namespace has its own", bobs not in (home, server), bobs)

# What works.
notebook = home + "/notebook/ann/one"
seen = ann.fetch(notebook + "/headers", home).text
fact("our cookies stay here", "volcano-" not in seen and "Authorization" not in seen, seen)
fact("the notebook's redirects stay on its origin", ann.visit(notebook + "/moved", "same-origin").url == notebook + "/lab?x=1")
fact("a stream comes as it is made", ann.request(notebook + "/ticks").read(15) == b"tick\ntick\ntick\n")
fact("a stream both ways", ann.web_socket(notebook + "/ws", home) == (101, b"echo hello"))
fact("large bodies", ann.fetch(notebook + "/", home, "POST", b"x" * 5_000_000).text == "5000000")
fact("a typed address without a slash", ann.visit(home + "/notebook/ann/one").status == 200)

# A notebook's page against the API and the page.
for path in ("/api/v1/namespaces/ann/secrets", "/ui/session", "/notebook/ann/one/", "/ui/notebook?to=/notebook/ann/one/"):
    answer = ann.fetch(server + path, home)
    fact(f"the page's origin refuses {path}", answer.status == 403, answer.status)
fact("no change of the API", ann.fetch(server + "/api/v1/namespaces/ann/configmaps", home, "POST", b"{}").status == 403)
fact("no stream of the page", ann.web_socket(server + "/ui/stream?path=/api", home)[0] != 101)
fact("the API is not on the notebook's port", ann.fetch(home + "/api/v1/namespaces/ann/secrets", home).status == 404)
fact("the page is not on the notebook's port", ann.fetch(home + "/ui/session", home).status == 404)

# Against another person's notebook, by a reader who may open both.
admin = Browser()
admin.visit(sys.argv[4])
admin.visit(server + "/notebook/ann/one/")
admin.visit(server + "/notebook/bob/one/")
for mode in ("cors", "no-cors"):
    fact(f"another namespace's page cannot fetch ({mode})", admin.fetch(notebook + "/headers", bobs, mode=mode).status == 403)
fact("nor open a stream", admin.web_socket(notebook + "/ws", bobs)[0] == 403)
fact("nor without an origin", admin.web_socket(notebook + "/ws", "")[0] == 403)
fact("nor post", admin.fetch(notebook + "/", bobs, "POST", b"x").status == 403)
fact("nor by its own port", admin.fetch(bobs + "/notebook/ann/one/headers", bobs).status == 404)
fact("bob may not open ann's notebook", bob.visit(server + "/notebook/ann/one/").status == 403)
fact("a stranger sees nothing", Browser().visit(notebook + "/").status == 401)
fact("ann's session is none at bob's", ann.fetch(bobs + "/notebook/bob/one/", bobs).status == 401)

# What it sets.
before = dict(ann.cookies)
ann.fetch(notebook + "/cookies", home)
fact("it sets no cookie of ours", {n for n in ann.cookies if n not in before} == {"_xsrf"}, str(ann.cookies.keys()))
fact("its cookies are its own", ann.cookies["_xsrf"][1] == "/notebook/ann/one/", str(ann.cookies["_xsrf"]))
headers = ann.fetch(notebook + "/hostwide", home).headers
fact("nothing holds for the whole host", not {"Strict-Transport-Security", "Clear-Site-Data", "Alt-Svc", "Access-Control-Allow-Origin"} & set(headers.keys()), str(headers.keys()))
fact("a redirect elsewhere is a person's way", ann.visit(notebook + "/elsewhere").headers["Location"] == "https://elsewhere.example/")
huge = ann.fetch(notebook + "/huge", home)
fact("huge headers are an error", huge.status == 503, str(huge.status))
fact("and the notebook goes on", ann.fetch(notebook + "/", home).status == 200)
fact("no service worker", ann.request(notebook + "/w.js", headers={"Service-Worker": "script", "Sec-Fetch-Site": "same-origin"}).status == 403)
fact("a name of another host", ann.request(notebook + "/", headers={"Host": "rebound.example:1"}).status == 403)

for line in failed: print(line)
sys.exit(1 if failed else 0)
