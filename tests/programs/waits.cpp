// Threads that wait, each for one thing, and print for how long by their own clocks: "KIND SECONDS" lines.
//
// usage: waits KIND MILLISECONDS
//   lock       one thread sleeps while it holds a mutex that another one wants
//   condition  the first thread waits for a condition that another one, which sleeps, signals
//   pipe       reads from a child that writes late
//   sleep      a loop that sleeps 5 ms and looks
//   fsync      writes and syncs until the time is over
//   read-lock  a writer sleeps while it holds a reader-writer lock that a reader wants
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

std::mutex table_lock, ready_lock;
std::condition_variable ready_condition;
bool is_ready = false;
pthread_rwlock_t map_lock = PTHREAD_RWLOCK_INITIALIZER;

double seconds_of(const std::function<void()>& action) {
    const auto begin = Clock::now();
    action();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[gnu::noinline]] void hold_table(Milliseconds time) {
    const std::lock_guard<std::mutex> guard(table_lock);
    std::this_thread::sleep_for(time);
}

[[gnu::noinline]] void want_table() { const std::lock_guard<std::mutex> guard(table_lock); }

// For how long `want` waits for what `hold` holds in another thread.
double wait_behind(void (*hold)(Milliseconds), void (*want)(), Milliseconds time) {
    std::thread holder(hold, time);
    std::this_thread::sleep_for(Milliseconds(20));
    const double waited_s = seconds_of(want);
    holder.join();
    return waited_s;
}

double lock(Milliseconds time) { return wait_behind(hold_table, want_table, time); }

[[gnu::noinline]] void hold_map(Milliseconds time) {
    pthread_rwlock_wrlock(&map_lock);
    std::this_thread::sleep_for(time);
    pthread_rwlock_unlock(&map_lock);
}

[[gnu::noinline]] void want_map() {
    pthread_rwlock_rdlock(&map_lock);
    pthread_rwlock_unlock(&map_lock);
}

double read_lock(Milliseconds time) { return wait_behind(hold_map, want_map, time); }

[[gnu::noinline]] void await_ready() {
    std::unique_lock<std::mutex> guard(ready_lock);
    ready_condition.wait(guard, [] { return is_ready; });
}

double condition(Milliseconds time) {
    std::thread signaller([time] {
        std::this_thread::sleep_for(time);
        const std::lock_guard<std::mutex> guard(ready_lock);
        is_ready = true;
        ready_condition.notify_one();
    });
    const double waited_s = seconds_of(await_ready);
    signaller.join();
    return waited_s;
}

[[gnu::noinline]] void read_byte(int from) {
    char byte;
    if (read(from, &byte, 1) != 1)
        std::exit(1);
}

double pipe_from_child(Milliseconds time) {
    int ends[2];
    if (pipe(ends) != 0)
        std::exit(1);
    const pid_t child = fork();
    if (child == 0) {
        usleep(static_cast<useconds_t>(time.count() * 1000));
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    const double waited_s = seconds_of([&] { read_byte(ends[0]); });
    waitpid(child, nullptr, 0);
    return waited_s;
}

[[gnu::noinline]] double poll_asleep(Milliseconds time) {
    const auto end = Clock::now() + time;
    double slept_s = 0;
    while (Clock::now() < end)
        slept_s += seconds_of([] { std::this_thread::sleep_for(Milliseconds(5)); });
    return slept_s;
}

int synced = 0;

[[gnu::noinline]] void sync_now(int file) {
    fsync(file);
    ++synced; // not a tail call
}

[[gnu::noinline]] double save_often(Milliseconds time) {
    char name[] = "waits-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    static char block[1 << 14];
    double synced_s = 0;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        if (write(file, block, sizeof block) != static_cast<ssize_t>(sizeof block))
            std::exit(1);
        synced_s += seconds_of([&] { sync_now(file); });
    }
    return synced_s;
}

} // namespace

int main(int count, char** arguments) {
    const std::map<std::string, double (*)(Milliseconds)> kinds{
        {"lock", lock},         {"condition", condition}, {"pipe", pipe_from_child},
        {"sleep", poll_asleep}, {"fsync", save_often},    {"read-lock", read_lock}};
    if (count != 3 || !kinds.contains(arguments[1])) {
        std::fprintf(stderr, "usage: waits KIND MILLISECONDS\n");
        return 2;
    }
    std::printf("%s %.6f\n", arguments[1], kinds.at(arguments[1])(Milliseconds(std::atoi(arguments[2]))));
    return 0;
}
