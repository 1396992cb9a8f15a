// Exceptions thrown out of signal handlers, through frames that are full of unaligned accesses.
#include "unaligned.h"
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace {

int destroyed = 0;
struct Counted {
    ~Counted() {
        touch(3);
        ++destroyed;
    }
};

void throw_out(int number) {
    touch(3);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    throw number;
}

__attribute__((noinline)) void fault(int number, volatile int* nowhere) {
    const Counted counted;
    touch(20);
    if (number == SIGSEGV)
        *nowhere = 1;
    else if (number == SIGTRAP)
        __asm__ volatile("int3\n\tnop");
    touch(1);
}

} // namespace

int main() {
    int caught = 0;
    for (const int number : {SIGSEGV, SIGTRAP}) {
        std::signal(number, throw_out);
        for (int i = 0; i < 20; ++i) {
            try {
                fault(number, reinterpret_cast<volatile int*>(5));
            } catch (int thrown) {
                caught += thrown == number;
            }
            touch(20);
        }
    }
    std::printf("caught %d destroyed %d\n", caught, destroyed);
}
