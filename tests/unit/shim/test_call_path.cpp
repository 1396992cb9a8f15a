// The remembered call path must always be what a full walk finds; glibc's backtrace() is the judge.
#include "fake_trace.h"
#include "platform/unwind/unwind_table.h"
#include "record/paths/call_path.h"

#include <catch2/catch.hpp>
#include <execinfo.h>

#include <alloca.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::shim;

namespace {

struct Checker {
    std::unique_ptr<CallPathCache, decltype(&free)> cache{
        static_cast<CallPathCache*>(calloc(1, sizeof(CallPathCache))), free};
    unsigned checked = 0, wrong = 0, remembered = 0;
    trace::NodeId last_node = 0;
    std::map<uint64_t, trace::NodeId> keys;
    unsigned keys_wrong = 0;
    bool compare = true;
};
thread_local Checker* checker;

// Folds recursion as the tree does: outermost first, an address already on the path is continued from.
std::vector<uint64_t> fold(const std::vector<uint64_t>& innermost_first) {
    std::vector<uint64_t> path;
    for (auto at = innermost_first.rbegin(); at != innermost_first.rend(); ++at) {
        size_t i = 0;
        while (i < path.size() && path[i] != *at)
            ++i;
        path.resize(i < path.size() ? i + 1 : i);
        if (path.empty() || path.back() != *at)
            path.push_back(*at);
    }
    return {path.rbegin(), path.rend()};
}

__attribute__((noinline, optimize("no-omit-frame-pointer"))) void event() {
    const Frame caller = PLUMB_CALLER_FRAME();
    trace::NodeId node;
    {
        const Guard guard;
        const CallPath path = checker->cache->find(guard, caller);
        checker->remembered += *path.mark != nullptr;
        *path.mark = checker;
        node = checker->cache->node(guard);
        const auto known = checker->keys.emplace(path.key, node).first;
        checker->keys_wrong += known->second != node;
    }
    checker->last_node = node;
    if (!checker->compare)
        return;
    void* frames[256];
    const int count = backtrace(frames, 256);
    std::vector<uint64_t> expected;
    for (int i = 1; i < count; ++i)
        expected.push_back(reinterpret_cast<uint64_t>(frames[i]));
    ++checker->checked;
    const std::vector<uint64_t> found = test::fake_trace().path(node);
    if (found != fold(expected)) {
        if (checker->wrong++ == 0) {
            for (uint64_t address : found)
                UNSCOPED_INFO("found " << std::hex << address);
            for (uint64_t address : fold(expected))
                UNSCOPED_INFO("expected " << std::hex << address);
        }
    }
    asm volatile("" ::: "memory");
}

#define SHAPE __attribute__((noinline, noclone))
volatile int sink;

SHAPE void leaf(int) {
    event();
    sink = sink + 1;
}
SHAPE void two_sites(int depth) {
    leaf(depth);
    sink = sink + 1;
    leaf(depth);
    sink = sink + 1;
}
SHAPE void dynamic_frame(int bytes, void (*next)(int)) {
    char* space = static_cast<char*>(alloca(static_cast<size_t>(bytes)));
    memset(space, 1, static_cast<size_t>(bytes));
    next(bytes);
    sink = space[bytes / 2];
}
SHAPE void realigned_frame(int depth) {
    alignas(64) volatile char space[128];
    space[depth & 127] = 1;
    leaf(depth);
    sink = space[depth & 127];
}
// As assembler of cryptography does: the rsp that the function was called with is kept on its stack, and found there. `bytes` of
// stack are taken besides.
#if defined(__x86_64__)
extern "C" void keeps_sp(long bytes, void (*next)(int));
asm(R"(
    .text
    .type keeps_sp, @function
keeps_sp:
    .cfi_startproc
    mov %rsp, %rax
    .cfi_def_cfa_register 0
    sub %rdi, %rsp
    sub $96, %rsp
    and $-64, %rsp
    mov %rax, 64(%rsp)
    .cfi_escape 0x0f, 6, 0x77, 0xc0, 0, 0x06, 0x23, 8
    call *%rsi
    mov 64(%rsp), %rsp
    .cfi_def_cfa 7, 8
    ret
    .cfi_endproc
    .size keeps_sp, . - keeps_sp
)");
#else
void keeps_sp(long bytes, void (*next)(int)) { dynamic_frame(static_cast<int>(bytes), next); }
#endif
SHAPE void recursive(int depth) {
    if (depth > 0)
        recursive(depth - 1);
    else
        leaf(depth);
    sink = sink + 1;
}
__attribute__((noinline, optimize("O3,omit-frame-pointer"))) void registers_used(int depth) {
    // Many live values: rbp becomes an ordinary register.
    int a = sink, b = sink, c = sink, d = sink, e = sink, f = sink, g = sink;
    leaf(depth);
    sink = a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + g * 17;
    leaf(depth + a);
    sink = a - b + c - d + e - f + g;
}
__attribute__((noinline, optimize("O0,no-omit-frame-pointer"))) void unoptimised(int depth) {
    two_sites(depth);
    sink = sink + 1;
}
SHAPE void depth_of_two(int bytes) { recursive(bytes % 3); }
SHAPE void throws(int depth) {
    std::unique_ptr<int> owned(new int(depth));
    leaf(depth);
    if (depth & 1)
        throw depth;
}
SHAPE void catches(int depth) {
    try {
        throws(depth);
    } catch (int) {
        leaf(depth);
    }
    sink = sink + 1;
}
int compare_and_record(const void*, const void*) {
    leaf(0);
    return 0;
}
SHAPE void through_libc(int) {
    int values[4] = {4, 3, 2, 1};
    qsort(values, 4, sizeof(int), compare_and_record);
    sink = values[0];
}

void run_mix(unsigned seed, unsigned events) {
    std::mt19937 random(seed);
    while (checker->checked < events) {
        const int size = static_cast<int>(random() % 7) * 48 + 16;
        switch (random() % 11) {
        case 0: two_sites(size); break;
        case 1: dynamic_frame(size, leaf); break;
        case 2: dynamic_frame(size, registers_used); break;
        case 3: recursive(size / 16); break;
        case 4: registers_used(size); break;
        case 5: unoptimised(size); break;
        case 6: catches(size / 16); break;
        case 7: through_libc(size); break;
        case 8: realigned_frame(size); break;
        case 9: dynamic_frame(size, catches); break;
        case 10: keeps_sp(size, depth_of_two); break;
        }
    }
}

struct Prepared {
    Checker own;
    Prepared() {
        void* warm[2];
        backtrace(warm, 2);
        start_unwinding();
        checker = &own;
    }
    ~Prepared() { checker = nullptr; }
};

} // namespace

TEST_CASE("a remembered call path equals backtrace()") {
    Prepared prepared;
    run_mix(GENERATE(1u, 2u, 3u), 2000);
    CHECK(prepared.own.checked >= 2000);
    CHECK(prepared.own.keys_wrong == 0);
    CHECK(prepared.own.wrong == 0);
}

TEST_CASE("stale return addresses below a moved frame are not believed") {
    // The same frame at the same address under callers of different sizes: what the old walk read is partly still
    // there, but it is no longer on the path.
    Prepared prepared;
    for (int round = 0; round < 200; ++round) {
        dynamic_frame(16 + round % 5 * 16, leaf);
        dynamic_frame(16 + round % 3 * 16, [](int bytes) { dynamic_frame(80 - bytes / 2, leaf); });
    }
    CHECK(prepared.own.wrong == 0);
}

TEST_CASE("a repeated path is answered from memory") {
    Prepared prepared;
    prepared.own.compare = false;
    for (int round = 0; round < 1000; ++round)
        leaf(round);
    CHECK(prepared.own.remembered == 999);
}

TEST_CASE("deep recursion is folded and cut, and the walk comes back from it") {
    Prepared prepared;
    prepared.own.compare = false;
    recursive(5000);
    const std::vector<uint64_t> deep = test::fake_trace().path(prepared.own.last_node);
    CHECK(deep.size() >= 2);
    CHECK(deep.size() <= 5);
    prepared.own.compare = true;
    run_mix(7, 300);
    CHECK(prepared.own.wrong == 0);
}

TEST_CASE("threads share the tree of paths") {
    const auto work = [](unsigned seed) {
        Checker own;
        checker = &own;
        own.compare = false;
        for (int round = 0; round < 2000; ++round)
            two_sites(static_cast<int>(seed) + round);
        checker = nullptr;
        return own.last_node;
    };
    start_unwinding();
    trace::NodeId first = 0, second = 0;
    std::thread one([&] { first = work(1); });
    std::thread two([&] { second = work(2); });
    one.join();
    two.join();
    CHECK(first != 0);
    CHECK(test::fake_trace().path(first).size() >= 4);
    CHECK(test::fake_trace().path(second).size() >= 4);
}

namespace {
// Of an emulator of programs (qemu's user mode) the kernel does not copy memory, and handlers return to no image of the kernel's.
bool can_read_foreign_stacks(bool needs_copies) {
    const long word = 1;
    long copy = 0;
    const iovec local{&copy, sizeof copy}, remote{const_cast<long*>(&word), sizeof word};
    const bool copies = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul) == sizeof copy;
    const bool has_image = getauxval(AT_SYSINFO_EHDR) != 0;
    if ((needs_copies && !copies) || !has_image)
        WARN("not tested: this system does not let the shim look");
    return (!needs_copies || copies) && has_image;
}

void on_signal(int) { leaf(1); }
std::vector<uint64_t> signal_path;
SHAPE void interrupted() {
    raise(SIGUSR1);
    signal_path = test::fake_trace().path(checker->last_node);
    sink = sink + 1;
}
} // namespace

TEST_CASE("the path through a signal handler goes on in the interrupted function") {
    Prepared prepared;
    prepared.own.compare = false;
    const bool alternative = GENERATE(false, true);
    if (!can_read_foreign_stacks(alternative))
        return;
    std::vector<char> space(1 << 16);
    stack_t stack{};
    stack.ss_sp = space.data();
    stack.ss_size = space.size();
    stack_t old_stack{};
    REQUIRE(sigaltstack(alternative ? &stack : nullptr, &old_stack) == 0);
    struct sigaction action {}, old_action{};
    action.sa_handler = on_signal;
    action.sa_flags = alternative ? SA_ONSTACK : 0;
    sigaction(SIGUSR1, &action, &old_action);
    interrupted();
    sigaction(SIGUSR1, &old_action, nullptr);
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);

    const uint64_t function = reinterpret_cast<uint64_t>(&interrupted);
    bool found = false;
    for (uint64_t address : signal_path)
        found |= address > function && address < function + 256;
    CHECK(found);
    CHECK(signal_path.size() >= 6);
}

namespace {
ucontext_t main_context, coroutine_context;
SHAPE void on_coroutine() {
    leaf(3);
    leaf(4);
    sink = sink + 1;
}
} // namespace

TEST_CASE("a coroutine's path is found on its own stack") {
    if (!can_read_foreign_stacks(true))
        return;
    Prepared prepared;
    prepared.own.compare = false;
    leaf(1); // the cache knows the thread's own stack
    std::vector<char> stack(1 << 16);
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = stack.data();
    coroutine_context.uc_stack.ss_size = stack.size();
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, on_coroutine, 0);
    swapcontext(&main_context, &coroutine_context);
    const std::vector<uint64_t> path = test::fake_trace().path(prepared.own.last_node);
    REQUIRE(path.size() >= 2);
    const uint64_t function = reinterpret_cast<uint64_t>(&on_coroutine);
    CHECK(path[1] > function);
    CHECK(path[1] < function + 256);
    prepared.own.compare = true;
    run_mix(11, 200);
    CHECK(prepared.own.wrong == 0);
}
