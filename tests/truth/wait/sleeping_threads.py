"""Threads that sleep between short pieces of work, as clients of a slow service do, and a pool that is mostly idle."""
import concurrent.futures
import threading
import time


def client(results, number):
    for request in range(60):
        time.sleep(0.03)
        results[number] += sum(range(request * 10))


def main():
    results = [0] * 4
    clients = [threading.Thread(target=client, args=(results, number)) for number in range(4)]
    for thread in clients:
        thread.start()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(sum(pool.map(len, ["a", "bb", "ccc"])))
        for thread in clients:
            thread.join()
    print(sum(results))


if __name__ == "__main__":
    main()
