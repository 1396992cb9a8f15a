// Unwinds this very process from a copy of its stack. The truth is glibc's backtrace(), which unwinds the live one.
#include "platform/code/decoder.h" // of the shim
#include "unwind/frame_size.h"
#include "unwind/stack_unwinder.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <fstream>
#include <pthread.h>
#include <thread>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

using namespace plumb;
using unwind::MappedCode;
using unwind::StackSample;
using unwind::StackUnwinder;
using unwind::UnwoundStack;

#if defined(__x86_64__)

// Of two libraries: .debug_frame alone describes the code of one, an .eh_frame to which no table leads that of the other.
extern "C" int descend_with_debug_frame(int depth, int (*function)(int));
extern "C" int descend_with_eh_frame(int depth, int (*function)(int));

namespace {

struct Mapped {
    uint64_t start, end, offset;
    std::string path;
};

class OwnCode final : public unwind::CodeMap {
  public:
    OwnCode() {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            unsigned long start = 0, end = 0, offset = 0;
            char access[8] = {}, path[4096] = {};
            if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &start, &end, access, &offset, path) >= 4 &&
                access[2] == 'x')
                mapped_.push_back({start, end, offset, path});
        }
    }
    MappedCode code_at(uint64_t address) const override {
        for (const Mapped& mapped : mapped_)
            if (address >= mapped.start && address < mapped.end)
                return {&mapped.path, mapped.start, mapped.offset, mapped.path == "[vdso]"};
        return {};
    }

  private:
    std::vector<Mapped> mapped_;
};

// What a sampler would have taken here, and what backtrace() says about the same place.
struct Sample {
    uint64_t pc = 0, sp = 0, bp = 0;
    std::vector<char> stack;
    std::vector<uint64_t> truth; // return addresses, innermost first
};
Sample sample;

__attribute__((noinline)) void take_sample() {
    void* addresses[256];
    const int count = backtrace(addresses, 256);
    ucontext_t context;
    getcontext(&context);
    sample.pc = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
    sample.sp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
    sample.bp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RBP]);
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    const auto* begin = reinterpret_cast<const char*>(sample.sp);
    const auto left = static_cast<size_t>(static_cast<const char*>(low) + size - begin);
    sample.stack.resize(std::min<size_t>(left, 65536));
    // Copied by the kernel, as samples are: the address sanitizer takes a read across live frames for an overflow.
    const iovec local{sample.stack.data(), sample.stack.size()}, remote{const_cast<char*>(begin), sample.stack.size()};
    const long copied = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul);
    sample.stack.resize(copied > 0 ? static_cast<size_t>(copied) : 0);
    sample.truth.clear();
    for (int i = 1; i < count; ++i) // 0 is in this function, at another instruction
        sample.truth.push_back(reinterpret_cast<uint64_t>(addresses[i]));
}

__attribute__((noinline)) int descend(int depth, int* sum) {
    char room[64];
    std::memset(room, depth, sizeof room);
    if (depth == 0)
        take_sample();
    else
        *sum += descend(depth - 1, sum) + room[depth % 64];
    return *sum + room[3];
}

// A function with a frame pointer, whatever the flags of this build: 8 + 40 bytes below it when it calls `function`.
extern "C" void call_with_frame(void (*function)());
asm(R"(
    .text
    .type call_with_frame, @function
call_with_frame:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset 6, -16
    mov %rdi, %rax
    mov %rsp, %rbp
    .cfi_def_cfa_register 6
    push %rbx
    sub $40, %rsp
    .cfi_offset 3, -24
    call *%rax
    add $40, %rsp
    pop %rbx
    pop %rbp
    .cfi_def_cfa 7, 8
    ret
    .cfi_endproc
    .size call_with_frame, . - call_with_frame
)");

void descend_three() {
    int sum = 0;
    descend(3, &sum);
}

int take_sample_at(int) {
    take_sample();
    return 0;
}

// Return addresses of the functions that called this one, and a sample from below functions of which backtrace() knows nothing.
__attribute__((noinline)) std::vector<uint64_t> sample_below(int (*function)(int, int (*)(int)), int depth) {
    void* addresses[256];
    const int count = backtrace(addresses, 256);
    function(depth, &take_sample_at);
    std::vector<uint64_t> callers;
    for (int i = 1; i < count; ++i)
        callers.push_back(reinterpret_cast<uint64_t>(addresses[i]));
    return callers;
}

UnwoundStack unwind_sample(StackUnwinder& unwinder) {
    return unwinder.unwind({sample.pc, sample.sp, sample.bp, sample.stack}, OwnCode(), 256);
}

} // namespace

TEST_CASE("frames from a copied stack are those of the live one") {
    StackUnwinder unwinder;
    for (int depth : {0, 1, 7, 40}) {
        int sum = 0;
        descend(depth, &sum);
        const UnwoundStack frames = unwind_sample(unwinder);
        REQUIRE(frames.addresses.size() > 1);
        CHECK(frames.addresses[0] == sample.pc);
        const size_t count = frames.addresses.size() - 1;
        CHECK(count >= static_cast<size_t>(depth) + 1);
        for (size_t i = 0; i < std::min(count, sample.truth.size()); ++i)
            CHECK(frames.addresses[i + 1] == sample.truth[i]);
        if (frames.complete)
            CHECK(count == sample.truth.size());
    }
}

TEST_CASE("a walk that repeats steps of the latest one comes to the same frames") {
    StackUnwinder unwinder;
    const OwnCode code;
    unwind::WalkedStack latest;
    const auto is_as_without = [&](const std::vector<char>& stack) {
        const StackSample state{sample.pc, sample.sp, sample.bp, stack};
        const UnwoundStack plain = unwinder.unwind(state, code, 256);
        UnwoundStack repeated;
        unwinder.unwind(state, code, 256, repeated, latest);
        CHECK(repeated.addresses == plain.addresses);
        CHECK(repeated.complete == plain.complete);
        return plain.addresses.size();
    };
    for (int depth : {20, 20, 3, 40, 39}) {
        int sum = 0;
        descend(depth, &sum);
        is_as_without(sample.stack);
        is_as_without(sample.stack);
        CHECK(latest.size() > static_cast<size_t>(depth));
    }
    // Each word of the stack is what a step may depend on. One that no longer fits ends the walk, or leads elsewhere.
    const std::vector<char> stack = sample.stack;
    const size_t frames = is_as_without(stack);
    size_t changed = 0;
    for (size_t word = 0; word + 8 <= std::min<size_t>(stack.size(), 4096); word += 8) {
        std::vector<char> other = stack;
        std::memset(other.data() + word, 0, 8);
        changed += is_as_without(other) != frames;
        is_as_without(stack);
        other.resize(word); // and the copy may end earlier
        is_as_without(other);
        is_as_without(stack);
    }
    CHECK(changed >= 10);
}

TEST_CASE("a frame whose frame pointer is not known is found by the size of the function's frame") {
    if (!shim::load_decoder(nullptr)) {
        WARN("no instruction decoder");
        return;
    }
    call_with_frame(&descend_three);
    sample.bp = 0; // as of a blocked thread
    StackUnwinder unwinder;
    const UnwoundStack frames = unwind_sample(unwinder);
    unwind::WalkedStack latest;
    for (int again = 0; again < 2; ++again) {
        UnwoundStack repeated;
        unwinder.unwind({sample.pc, sample.sp, 0, sample.stack}, OwnCode(), 256, repeated, latest);
        CHECK(repeated.addresses == frames.addresses);
    }
    const size_t count = frames.addresses.size() - 1;
    CHECK(count >= 7); // four of descend(), descend_three(), call_with_frame(), and its caller
    for (size_t i = 0; i < std::min(count, sample.truth.size()); ++i)
        CHECK(frames.addresses[i + 1] == sample.truth[i]);
}

TEST_CASE("frames without a table that leads to their description are found in .debug_frame, and in .eh_frame") {
    StackUnwinder unwinder;
    constexpr int kDepth = 5;
    for (const auto function : {&descend_with_debug_frame, &descend_with_eh_frame}) {
        const std::vector<uint64_t> callers = sample_below(function, kDepth);
        const UnwoundStack frames = unwind_sample(unwinder);
        // The sample, its caller, the descent, sample_below().
        REQUIRE(frames.addresses.size() == 1 + 1 + (kDepth + 1) + 1 + callers.size());
        CHECK(std::equal(callers.rbegin(), callers.rend(), frames.addresses.rbegin()));
        CHECK(frames.complete);
    }
}

TEST_CASE("the size of a function's frame, by its first instructions") {
    if (!shim::load_decoder(nullptr))
        return;
    using Code = std::vector<uint8_t>;
    const Code begin{0x55, 0x48, 0x89, 0xe5}; // push %rbp; mov %rsp,%rbp
    const auto bytes_of = [&](Code rest) {
        rest.insert(rest.begin(), begin.begin(), begin.end());
        return unwind::frame_bytes(rest);
    };
    CHECK(bytes_of({}) == 0u);
    CHECK(bytes_of({0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x20}) == 48u);                   // push %r15, %rbx; sub $32,%rsp
    CHECK(bytes_of({0x48, 0x81, 0xec, 0x00, 0x01, 0x00, 0x00}) == 256u);                  // sub $256,%rsp
    CHECK(bytes_of({0x53, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xec, 0x08}) == 16u);             // mov %rdi,%rbx between them
    CHECK(bytes_of({0x53, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x48, 0x83, 0xec, 0x08}) == 8u);  // what follows a call is another matter
    CHECK_FALSE(bytes_of({0x48, 0x83, 0xe4, 0xe0}));                                      // and $-32,%rsp
    CHECK_FALSE(bytes_of({0x48, 0x29, 0xc4}));                                            // sub %rax,%rsp: an array of variable length
    CHECK_FALSE(unwind::frame_bytes(Code{0x53, 0x48, 0x83, 0xec, 0x10}));                 // no frame pointer
    CHECK(unwind::frame_bytes(Code{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x53}) == 8u); // endbr64 before it
}

TEST_CASE("where the function begins that an address lies in") {
    StackUnwinder unwinder;
    const OwnCode code;
    const uint64_t begin = reinterpret_cast<uint64_t>(&descend);
    const MappedCode mapped = code.code_at(begin);
    REQUIRE(mapped.path);
    unwind::UnwindImage* image = unwinder.image_of(mapped);
    REQUIRE(image);
    const auto place = image->address_of(begin - mapped.start + mapped.file_offset);
    REQUIRE(place);
    for (const uint64_t inside : {uint64_t{0}, uint64_t{1}, uint64_t{9}}) {
        const auto range = image->function_at(*place + inside);
        REQUIRE(range);
        CHECK(range->start == *place);
        CHECK(range->end > *place + inside);
    }
    const auto before = image->function_at(*place - 1);
    CHECK((!before || (before->start < *place && before->end <= *place)));
    CHECK_FALSE(image->function_at(0));
}

TEST_CASE("a thread's stack is unwound to where it began") {
    StackUnwinder unwinder;
    UnwoundStack frames;
    std::thread thread([&] {
        int sum = 0;
        descend(3, &sum);
        frames = unwind_sample(unwinder);
    });
    thread.join();
    CHECK(frames.complete);
    REQUIRE(frames.addresses.size() == sample.truth.size() + 1);
    CHECK(std::equal(sample.truth.begin(), sample.truth.end(), frames.addresses.begin() + 1));
}

TEST_CASE("a signal handler's frames lead to what it interrupted") {
    StackUnwinder unwinder;
    struct sigaction action {}, before {};
    action.sa_handler = [](int) { take_sample(); };
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, nullptr);
    const UnwoundStack frames = unwind_sample(unwinder);
    REQUIRE(frames.addresses.size() > 4); // sample, handler, trampoline, raise, here
    for (size_t i = 0; i < std::min(frames.addresses.size() - 1, sample.truth.size()); ++i)
        CHECK(frames.addresses[i + 1] == sample.truth[i]);
}

TEST_CASE("a short copy, no mappings, or noise end the chain and are not called complete") {
    StackUnwinder unwinder;
    int sum = 0;
    descend(30, &sum);
    const size_t whole = unwind_sample(unwinder).addresses.size();
    sample.stack.resize(5000); // take_sample's own frame is large
    const UnwoundStack cut = unwind_sample(unwinder);
    CHECK(cut.addresses.size() > 1);
    CHECK(cut.addresses.size() < whole);
    CHECK_FALSE(cut.complete);
    sample.stack.clear();
    CHECK(unwind_sample(unwinder).addresses.size() == 1);
    unsigned state = 99;
    for (int round = 0; round < 200; ++round) {
        sample.stack.resize(4096);
        for (char& byte : sample.stack)
            byte = static_cast<char>((state = state * 1103515245 + 12345) >> 16);
        sample.bp = sample.sp + state % 4096;
        CHECK(unwind_sample(unwinder).addresses.size() < 1000);
    }
}

#endif
