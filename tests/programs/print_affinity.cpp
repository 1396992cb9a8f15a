// Prints which CPUs each of its threads may use, one line "WHO: LIST", in a fixed order. The first argument says
// what it does; "tag NAME" prints one line under that name.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

std::string allowed() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return "unknown";
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus))
            text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text;
}

void print(const std::string& who) {
    printf("%s: %s\n", who.c_str(), allowed().c_str());
    fflush(stdout);
}

// All threads live at the same time; each notes its mask before anything else.
void threads(int count) {
    std::vector<std::string> seen(static_cast<size_t>(count));
    std::vector<std::thread> workers;
    std::atomic<int> running{0};
    for (int i = 0; i < count; ++i)
        workers.emplace_back([&, i] {
            seen[static_cast<size_t>(i)] = allowed();
            for (++running; running < count;)
                std::this_thread::yield();
        });
    for (std::thread& worker : workers)
        worker.join();
    print("main");
    for (int i = 0; i < count; ++i)
        printf("thread %d: %s\n", i, seen[static_cast<size_t>(i)].c_str());
}

void* note(void* text) {
    *static_cast<std::string*>(text) = allowed();
    return nullptr;
}

void own_attribute(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
    std::string seen;
    pthread_t thread;
    pthread_create(&thread, &attributes, note, &seen);
    pthread_join(thread, nullptr);
    print("main");
    printf("own: %s\n", seen.c_str());
}

void own_later(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    print("before");
    sched_setaffinity(0, sizeof cpus, &cpus);
    print("after");
}

void helper() {
    std::string before, after;
    std::thread([&] {
        before = allowed();
        prctl(PR_SET_NAME, "my_helper");
        after = allowed();
    }).join();
    printf("unnamed: %s\nnamed: %s\n", before.c_str(), after.c_str());
}

void forked() {
    print("parent");
    if (fork() == 0) {
        print("child");
        _exit(0);
    }
    wait(nullptr);
    print("parent");
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "main";
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    if (what == "threads")
        threads(number);
    else if (what == "own-attribute")
        own_attribute(number);
    else if (what == "own-later")
        own_later(number);
    else if (what == "helper")
        helper();
    else if (what == "fork")
        forked();
    else if (what == "exec")
        execl(argv[0], argv[0], "tag", "after exec", nullptr);
    else if (what == "tag") {
        print(argc > 2 ? argv[2] : "tag");
        if (argc > 3) // stay alive for so many milliseconds, so that others find the position held
            usleep(static_cast<useconds_t>(atoi(argv[3])) * 1000);
    } else
        print("main");
    return 0;
}
