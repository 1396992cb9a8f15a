#include "record/counters/known_work.h"

#include "record/counters/known_loops.h"
#include "support/xorshift.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <numeric>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::record {

namespace {

// Five million instructions: what else the threads do is less than 0.2 % of it. Unequal parts tell a count of one thread from
// half a count of both.
constexpr uint64_t kRounds[2] = {300'000, 200'000};
// One line on each of so many pages: more pages than any translation cache has entries.
constexpr size_t kLinks = 8192, kLinkStride = 4096;
constexpr size_t kFreshPages = 64; // touched for the first time by the first thread
constexpr int kSleeps = 16;        // of the first thread
constexpr int kMostWait_ms = 2000;
constexpr double kFastestPerNs = 8, kSlowestPerNs = 0.1; // cycles: of any CPU and emulator

struct Answer {
    double cpu_ns[2];
};

double thread_clock_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void bind_to(int cpu) {
    cpu_set_t* set = CPU_ALLOC(cpu + 1);
    if (!set)
        return;
    const size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    sched_setaffinity(0, bytes, set); // where it is refused the thread may be on another one: the check says what came out
    CPU_FREE(set);
}

// A chain through one line of each page, in random order, so that no prefetcher knows the next one.
class Chain {
  public:
    void lay_out() {
        constexpr size_t kBytes = kLinks * kLinkStride;
        void* place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED)
            return;
        madvise(place, kBytes, MADV_NOHUGEPAGE); // one translation for each page
        pages_ = static_cast<char*>(place);
        static uint32_t order[kLinks];
        std::iota(std::begin(order), std::end(order), 0u);
        Xorshift random;
        for (size_t i = kLinks - 1; i > 0; --i)
            std::swap(order[i], order[random.next() % (i + 1)]);
        for (size_t i = 0; i < kLinks; ++i)
            *reinterpret_cast<void**>(line(order[i])) = line(order[(i + 1) % kLinks]);
    }
    void flush() const {
        for (size_t i = 0; pages_ && i < kLinks; ++i)
            flush_line(line(i));
        settle_flushes();
    }
    void follow() const {
        if (pages_)
            follow_links(line(0), kLinks);
    }

  private:
    // Spread over the sets of the caches.
    char* line(size_t page) const { return pages_ + page * kLinkStride + page * 5 % 61 * 64; }
    char* pages_ = nullptr;
};

struct Second {
    int cpu = 0, done[2] = {-1, -1};
    double cpu_ns = 0;
};

// It stays until the process is ended: what counts threads as they are must find it.
void* second_thread(void* argument) {
    auto& second = *static_cast<Second*>(argument);
    bind_to(second.cpu);
    const double begin = thread_clock_ns();
    do_rounds(kRounds[1]);
    second.cpu_ns = thread_clock_ns() - begin;
    const char byte = 1;
    if (write(second.done[1], &byte, 1) == 1)
        for (;;)
            pause();
    return nullptr;
}

// In the child. By `parent` it says that it is ready (a byte), is let go (a byte), and says what it took (an Answer).
[[noreturn]] void do_known_work(int first_cpu, int second_cpu, bool scatters, int parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, KnownWork::kName);
    bind_to(first_cpu);
    Second second{second_cpu, {-1, -1}, 0};
    Chain chain;
    if (scatters)
        chain.lay_out();
    constexpr size_t kPage = 4096;
    void* fresh = mmap(nullptr, kFreshPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED || pipe2(second.done, O_CLOEXEC) != 0)
        _exit(1);
    madvise(fresh, kFreshPages * kPage, MADV_NOHUGEPAGE);
    chain.flush();
    char byte = 1;
    if (write(parent, &byte, 1) != 1 || read(parent, &byte, 1) != 1)
        _exit(1);
    Answer answer{};
    const double begin = thread_clock_ns();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, second_thread, &second) != 0)
        _exit(1);
    chain.follow();
    do_rounds(kRounds[0]);
    for (size_t page = 0; page < kFreshPages; ++page)
        static_cast<volatile char*>(fresh)[page * kPage] = 1;
    for (int sleep = 0; sleep < kSleeps; ++sleep) {
        const timespec shortest{0, 1};
        nanosleep(&shortest, nullptr);
    }
    answer.cpu_ns[0] = thread_clock_ns() - begin;
    if (read(second.done[0], &byte, 1) != 1)
        _exit(1);
    answer.cpu_ns[1] = second.cpu_ns;
    if (write(parent, &answer, sizeof answer) == sizeof answer)
        for (;;)
            pause();
    _exit(1);
}

bool read_within(int fd, void* to, size_t bytes) {
    pollfd polled{fd, POLLIN, 0};
    int ready = 0;
    while ((ready = poll(&polled, 1, kMostWait_ms)) < 0 && errno == EINTR) {}
    return ready > 0 && read(fd, to, bytes) == static_cast<ssize_t>(bytes);
}

} // namespace

KnownThreadWork known_thread_work(bool is_first) {
    const uint64_t rounds = kRounds[is_first ? 0 : 1];
    return {rounds * kRoundInstructions, rounds * kRoundBranches, rounds * (kRoundScalarOperations + kRoundPackedOperations),
            rounds * kRoundScalarOperations};
}

uint64_t known_scattered_loads() { return kLinks; }

KnownWork::KnownWork(int first_cpu, int second_cpu, bool scatters) : scatters_(scatters) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        why_ = std::string("socketpair: ") + strerror(errno);
        return;
    }
    pid_ = fork();
    if (pid_ == 0) {
        close(ends[0]); // else it would wait for itself
        do_known_work(first_cpu, second_cpu, scatters, ends[1]);
    }
    if (pid_ < 0)
        why_ = std::string("fork: ") + strerror(errno);
    close(ends[1]);
    socket_ = ends[0];
    char ready = 0;
    if (pid_ > 0 && !read_within(socket_, &ready, 1))
        why_ = "the process with the known work did not start";
}

KnownWork::~KnownWork() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    if (socket_ >= 0)
        close(socket_);
}

bool KnownWork::run() {
    const char byte = 1;
    Answer answer{};
    // It may have been killed: then no SIGPIPE may end the recorder.
    if (send(socket_, &byte, 1, MSG_NOSIGNAL) != 1 || !read_within(socket_, &answer, sizeof answer))
        return false;
    std::copy(std::begin(answer.cpu_ns), std::end(answer.cpu_ns), std::begin(cpu_ns_));
    return true;
}

KnownCount KnownWork::count(Quantity quantity, bool first_thread_only) const {
    const double cpu_ns = cpu_ns_[0] + (first_thread_only ? 0 : cpu_ns_[1]);
    const auto both = [&](uint64_t KnownThreadWork::*what) {
        return static_cast<double>(known_thread_work(true).*what + (first_thread_only ? 0 : known_thread_work(false).*what));
    };
    const auto within = [](double count, double tolerance) {
        return KnownCount{count * (1 - tolerance), count * (1 + tolerance), count};
    };
    const double loads = scatters_ ? static_cast<double>(kLinks) : 0;
    const double instructions = both(&KnownThreadWork::instructions) + loads * static_cast<double>(kLinkInstructions);
    const double branches = both(&KnownThreadWork::branches) + loads;
    switch (quantity) {
    case Quantity::instructions: return within(instructions, 0.02);
    case Quantity::branches: return within(branches, 0.02);
    case Quantity::double_operations: return within(both(&KnownThreadWork::double_operations), 0.05);
    case Quantity::scalar_double_operations: return within(both(&KnownThreadWork::scalar_double_operations), 0.05);
    // A line that is fetched along, and what a processor fetches on suspicion, make some more; a cache of all of memory
    // beside the processor, some fewer.
    case Quantity::scattered_loads: return {0.8 * loads, 2.5 * loads, loads};
    case Quantity::cycles: return {kSlowestPerNs * cpu_ns, kFastestPerNs * cpu_ns, 0};
    case Quantity::cpu_ns: return {0.9 * cpu_ns, 1.1 * cpu_ns + 1e6, cpu_ns};
    case Quantity::page_faults: return {double{kFreshPages}, 4.0 * kFreshPages, double{kFreshPages}}; // code that the fork left to be mapped, too
    case Quantity::context_switches: return {double{kSleeps}, 1e4, 0};
    case Quantity::cpu_migrations: return {0, 16, 0};
    // Each loop waits for some of its results, and ends once: emulators that count none of these have no such counter.
    case Quantity::at_most_cycles: return {1, kFastestPerNs * cpu_ns, 0};
    // A load that misses every cache takes a hundred cycles and more; what else is under way hides a part of them.
    case Quantity::memory_cycles: return {10 * loads, kFastestPerNs * cpu_ns, 0};
    case Quantity::at_most_loads: return {0, 4.0 * kLinks, 0};
    case Quantity::at_most_branches: return {1, branches, 0};
    }
    return {};
}

} // namespace plumb::record
