# A service that measures itself: a fixed piece of work every 20 ms for SECONDS; prints its times in microseconds, sorted.
import sys
import time

seconds = float(sys.argv[1])
times = []
end = time.monotonic() + seconds
due = time.monotonic()
while due < end:
    due += 0.02
    time.sleep(max(0.0, due - time.monotonic()))
    begin = time.monotonic()
    total = 0
    for number in range(40_000):
        total += number
    times.append(int((time.monotonic() - begin) * 1e6))
times.sort()
print("times", len(times), times[len(times) // 2], times[int(len(times) * 0.99)], flush=True)
