#!/usr/bin/env python3
"""Memory: thousands of large objects, the bound of all, and what a deletion gives back."""
from lib import MEMORY, Cluster, expect, row, run, wait_for

MAPS = "/api/v1/namespaces/default/configmaps"
EACH = 1_000_000


def fill(cluster, count, first=0):
    for i in range(first, first + count):
        cluster.create(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"v": f"{i:06}" + "x" * (EACH - 6)}})


@row("300 ConfigMaps of a megabyte were held three times: by the store, the node agent and the controllers", "1.3 times at the most, beside what history holds, also after a restart")
def large_objects_are_held_once():
    cluster = Cluster("--runtime", "process", "--host-rootfs")
    wait_for(10, "a node", lambda: cluster.get("/api/v1/nodes")[1]["items"])
    before = cluster.rss_mib("RssAnon")
    fill(cluster, 300)
    stored = 300 * EACH / 2**20

    def settled():
        return cluster.rss_mib("RssAnon") - before <= stored * 1.3 * MEMORY
    wait_for(10, f"memory of at most 1.3 times of {stored:.0f} MiB", settled)
    cluster.stop()
    cluster.start()
    wait_for(10, "the same after a restart", settled)
    print(f"  {cluster.rss_mib('RssAnon') - before} MiB more for {stored:.0f} MiB")
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()


@row("100 objects of a megabyte are deleted as a collection: it answered 429 to itself", "all of them go")
def collections_of_large_objects_go():
    cluster = Cluster("--runtime", "process", "--host-rootfs")
    fill(cluster, 100)
    status, answer = cluster.request("DELETE", MAPS, timeout=60)
    expect(status == 200, f"{status} {str(answer)[:300]}")
    left = [m["metadata"]["name"] for m in cluster.get(MAPS)[1]["items"] if m["metadata"]["name"].startswith("m")]
    expect(not left, f"{len(left)} are left")
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()


@row("a client writes until memory ends", "507 from --objects-mib on, in words, for what is made or grows; deletions go through and make room; /metrics counts")
def the_bound_of_all_objects():
    cluster = Cluster("--runtime", "process", "--host-rootfs", "--objects-mib", "20")
    fill(cluster, 19)
    status, answer = 201, {}
    for i in range(5):
        if status == 201:
            status, answer = cluster.request("POST", MAPS, {"metadata": {"name": f"last{i}"}, "data": {"v": "x" * EACH}})
    expect(status == 507 and "--objects-mib" in answer["message"], f"{status} {answer}")
    status, answer = cluster.request("PATCH", f"{MAPS}/m0", {"data": {"w": "x" * 40_000}}, content_type="application/merge-patch+json")
    expect(status == 507, f"an object that grows: {status} {str(answer)[:200]}")
    status, answer = cluster.request("PATCH", f"{MAPS}/m0", {"data": {"v": "small"}}, content_type="application/merge-patch+json")
    expect(status == 200, f"an object that shrinks: {status} {str(answer)[:200]}")
    for i in range(1, 4):
        expect(cluster.request("DELETE", f"{MAPS}/m{i}")[0] == 200, "a deletion")
    text = cluster.get("/metrics")[1]
    counts = {line.split(" ")[0]: float(line.split(" ")[1]) for line in text.splitlines() if line.startswith("volcano_api_objects")}
    expect(counts["volcano_api_objects_refused_total"] >= 2 and 15e6 < counts["volcano_api_objects_bytes"] < 20e6, str(counts))
    cluster.check_healthy()
    cluster.stop()
    cluster.remove()


if __name__ == "__main__":
    run()
