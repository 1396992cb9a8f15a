// Exceptions and forced unwinding through threads: nothing of the shim may stand in their way.
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <thread>

struct Announced {
    const char* what;
    ~Announced() { std::printf("destroyed %s\n", what); }
};

static void* leave(void*) {
    Announced local{"on pthread_exit"};
    pthread_exit(nullptr);
}

int main() {
    std::thread([] {
        try {
            Announced local{"on throw"};
            throw std::runtime_error("in a thread");
        } catch (const std::exception& error) {
            std::printf("caught: %s\n", error.what());
        }
    }).join();
    pthread_t thread;
    pthread_create(&thread, nullptr, leave, nullptr);
    pthread_join(thread, nullptr);
    return 0;
}
