// usage: align_throws N. A handler on an alternate stack is left by an exception; 0.2 s later, N unaligned loads.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {
alignas(64) char area[64];
char stack_memory[1 << 16];

void leave(int number) { throw number; }

double cpu_seconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

__attribute__((noinline)) void fault(volatile int* nowhere) { *nowhere = 1; }
} // namespace

extern "C" __attribute__((noinline)) int32_t load_after(const volatile int32_t* at) { return *at; }

int main(int count, char** arguments) {
    const long n = count > 1 ? std::atol(arguments[1]) : 10;
    stack_t stack = {};
    stack.ss_sp = stack_memory;
    stack.ss_size = sizeof stack_memory;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = leave;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    int caught = 0;
    try {
        fault(reinterpret_cast<volatile int*>(5));
    } catch (int number) {
        caught = number;
    }
    const double begin = cpu_seconds();
    volatile int spins = 0;
    while (cpu_seconds() < begin + 0.2) // ticks come in user mode only: little of the time may go into asking for it
        for (int i = 0; i < 100'000; ++i)
            spins = i;
    int64_t sum = 0;
    for (long i = 0; i < n; ++i)
        sum += load_after(reinterpret_cast<int32_t*>(area + 1));
    std::printf("caught %d sum %lld\n", caught, static_cast<long long>(sum));
}
