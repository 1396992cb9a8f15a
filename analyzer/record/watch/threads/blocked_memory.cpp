#include "record/watch/threads/blocked_memory.h"

#include "platform/process_memory.h"

#include <algorithm>
#include <array>
#include <sys/syscall.h>

namespace plumb::record {

namespace {

constexpr size_t kStackBytes = 4096, kPageBytes = 4096;

} // namespace

// In one system call. A stack may end, or a page be missing: what lies before it is read all the same, page by page.
void BlockedMemory::read(uint32_t pid, const platform::TaskSyscall& call) {
    stack_.resize(kStackBytes);
    std::array<platform::MemoryPiece, 3> pieces;
    size_t count = 0, before_stack = 0;
    if (call.number == SYS_futex && call.arguments[0] % sizeof(uint32_t) == 0 &&
        call.arguments[0] % kPageBytes + sizeof futex_ <= kPageBytes) {
        before_stack = sizeof futex_;
        pieces[count++] = {call.arguments[0], futex_, sizeof futex_};
    }
    const uint64_t asked = call.number == SYS_clock_nanosleep ? call.arguments[2]
                           : call.number == SYS_nanosleep     ? call.arguments[0]
                                                              : 0;
    const bool asks = asked != 0 && asked % alignof(timespec) == 0 && asked % kPageBytes + sizeof asked_ <= kPageBytes;
    if (asks) {
        before_stack = sizeof asked_;
        pieces[count++] = {asked, &asked_, sizeof asked_};
    }
    const size_t first = std::min(kStackBytes, kPageBytes - call.sp % kPageBytes);
    pieces[count++] = {call.sp, stack_.data(), first};
    if (first < kStackBytes)
        pieces[count++] = {call.sp + first, stack_.data() + first, kStackBytes - first};
    const size_t bytes = platform::read_process_memory(pid, {pieces.data(), count});
    has_futex_ = !asks && before_stack > 0 && bytes >= before_stack;
    has_asked_ = asks && bytes >= before_stack;
    stack_.resize(bytes > before_stack ? bytes - before_stack : 0);
}

uint64_t BlockedMemory::asked_ns() const {
    constexpr uint64_t kSecond_ns = 1'000'000'000;
    return has_asked_ && asked_.tv_sec >= 0 && asked_.tv_nsec >= 0
               ? static_cast<uint64_t>(asked_.tv_sec) * kSecond_ns + static_cast<uint64_t>(asked_.tv_nsec) : 0;
}

// glibc (x86-64): a mutex is its futex word, 2 while somebody waits, a count, the owner's thread id, and how many use it. A
// reader-writer lock has two words that are waited on, two that are 0, and the thread id of the writer that holds it. A
// condition variable is waited on with another value than 2.
uint32_t BlockedMemory::lock_holder() const {
    const auto& word = futex_;
    if (!has_futex_)
        return 0;
    if (word[0] == 2 && word[3] != 0)
        return word[2]; // a mutex
    if (word[2] == 0 && word[3] == 0)
        return word[4]; // a reader waits, or the writer that is next, for the phase to change
    if (word[1] == 0 && word[2] == 0)
        return word[3]; // a writer waits for its turn
    return 0;
}

} // namespace plumb::record
