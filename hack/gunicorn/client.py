"""A plain client: python3 client.py PORT PATH CONNECTIONS SECONDS. Each thread sends one request after the other.

Waits until something listens, and prints one line of JSON.
"""

import http.client
import json
import socket
import sys
import threading
import time

HOST = "127.0.0.1"


def wait(port):
    for _ in range(600):
        try:
            socket.create_connection((HOST, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)


def load(port, path, end, outcomes):
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    while time.monotonic() < end:
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            outcomes.append(answer.status == 200)
        except (OSError, http.client.HTTPException):
            connection.close()
            outcomes.append(False)


def main(port, path, connections, seconds):
    wait(port)
    begin = time.monotonic()
    all_outcomes = [[] for _ in range(connections)]
    threads = [threading.Thread(target=load, args=(port, path, begin + seconds, outcomes)) for outcomes in all_outcomes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    answered = [is_good for outcomes in all_outcomes for is_good in outcomes]
    print(json.dumps({"perSecond": sum(answered) / seconds, "failed": answered.count(False)}), flush=True)


main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
