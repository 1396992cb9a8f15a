#include "record/pin/pin.h"

#include "platform/os/affinity.h"
#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/memory.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/pin/pin_skip.h"
#include "record/pin/pin_table.h"
#include "record/process/launcher.h"
#include "record/process/settings.h"
#include "record/process/trace_writer.h"

#include <plumb/launchers.h>

#include <atomic>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::shim {
namespace {

constexpr PinTicket kNoTicket = UINT32_MAX;         // placement is off
constexpr PinTicket kLeaveAlone = UINT32_MAX - 1;   // its creator gave it CPUs of its own
constexpr PinTicket kHelperThread = UINT32_MAX - 2; // may run anywhere in the list
constexpr PinTicket kTableFull = UINT32_MAX - 3;

struct Pinning {
    PinTable table;
    int32_t* cpus = nullptr; // the list; null: placement is off
    uint32_t positions = 0;
    uint32_t stride = 0; // entries each process owns; 0: processes and threads take the next free one
    int local_rank = -1;
    uint32_t first = 0; // first entry of this process's block
    char program[32] = {};
};
Pinning pinning;

// Of a dormant process: an entry that its parent reserved for it and that goes to its first child.
std::atomic<uint32_t> own_reservation{kNoEntry};
// Between the handlers before and after fork, which run in one thread.
__thread uint32_t reserved_for_child __attribute__((tls_model("initial-exec"))) = kNoEntry;

bool owner_is_alive(uint64_t owner) {
    const uint32_t pid = pin::owner_pid(owner), tid = pin::owner_tid(owner);
    const bool process_only = tid == 0 || tid == kComingThread || tid == kComingProcess;
    const long result = process_only ? system_call(SYS_kill, pid, 0)
                                     : system_call(SYS_tgkill, pid, tid, 0);
    return result != -ESRCH;
}

uint32_t count_one(uint32_t& counter) { return std::atomic_ref<uint32_t>(counter).fetch_add(1, std::memory_order_relaxed); }

// --- What PLUMB_PIN and related variables say --------------------------------------------------------------------------

// Numbers and ranges, as plumb writes them. Returns the count, 0 for anything else.
uint32_t read_cpu_list(const char* text, int32_t* cpus, uint32_t room) {
    uint32_t count = 0;
    const auto number = [&](int32_t& value) {
        if (*text < '0' || *text > '9')
            return false;
        for (value = 0; *text >= '0' && *text <= '9' && value < kMostCpus; ++text)
            value = value * 10 + (*text - '0');
        return value < kMostCpus;
    };
    for (;; ++text) {
        int32_t first = 0, last = 0;
        if (!number(first))
            return 0;
        last = first;
        if (*text == '-' && (++text, !number(last)))
            return 0;
        for (int32_t cpu = first; cpu <= last; ++cpu) {
            if (count == room)
                return 0;
            cpus[count++] = cpu;
        }
        if (*text != ',')
            return *text == '\0' ? count : 0;
    }
}

// The group's table, or one that only this process and its forked children share.
pin::Group* map_group(const char* path) {
    if (path) {
        const int file = open_file(path, O_RDWR);
        struct stat status;
        if (file >= 0) {
            long memory = -EINVAL;
            if (status_of_file(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(pin::Group)))
                memory = system_call(SYS_mmap, 0, sizeof(pin::Group), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            close_file(file);
            auto* group = reinterpret_cast<pin::Group*>(memory);
            if (!is_error(memory)) {
                if (group->magic == pin::kGroupMagic && group->entries == pin::kGroupEntries)
                    return group;
                system_call(SYS_munmap, memory, sizeof(pin::Group));
            }
        }
    }
    const long memory = system_call(SYS_mmap, 0, sizeof(pin::Group), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return is_error(memory) ? nullptr : reinterpret_cast<pin::Group*>(memory);
}

// Whose block of the list this process owns. A rank's threads keep to its share.
void find_block() {
    const LaunchFacts facts = read_launch_facts(environ);
    pinning.local_rank = facts.local_rank;
    const int local_size = facts.local_count;
    uint64_t stride = settings.number(Setting::kPinStride, 0);
    if (stride == 0 && pinning.local_rank >= 0) {
        const int openmp = launchers::number(getenv("OMP_NUM_THREADS"));
        // As many threads as there are positions: the default that plumb gave the launching shell, not a wish.
        if (openmp > 0 && static_cast<uint32_t>(openmp) < pinning.positions)
            stride = static_cast<uint64_t>(openmp);
        else
            stride = local_size > 0 && pinning.positions > static_cast<uint32_t>(local_size)
                         ? pinning.positions / static_cast<uint32_t>(local_size)
                         : 1;
    }
    pinning.stride = stride < pin::kGroupEntries ? static_cast<uint32_t>(stride) : 0;
}

bool read_settings() {
    const char* list = settings.text(Setting::kPinList);
    if (!list)
        return false;
    if (pinning.cpus)
        return true;
    constexpr size_t bytes = kMostCpus * sizeof(int32_t);
    auto* cpus = static_cast<int32_t*>(allocate_pages(bytes, false));
    if (!cpus)
        return false;
    pinning.positions = read_cpu_list(list, cpus, kMostCpus);
    pin::Group* group = pinning.positions > 0 ? map_group(settings.text(Setting::kPinGroup)) : nullptr;
    if (!group) {
        release_pages(cpus, bytes);
        return false;
    }
    pinning.table = PinTable(*group, pinning.positions, owner_is_alive);
    char path[PATH_MAX];
    if (read_link("/proc/self/exe", path, sizeof path) > 0) {
        const char* name = base_name(path);
        memcpy(pinning.program, name, strnlen(name, sizeof pinning.program - 1));
    }
    find_block();
    pinning.cpus = cpus;
    return true;
}

// --- Children ------------------------------------------------------------------------------------------------

void reserve_for_child() {
    const uint32_t pid = process_id();
    const uint64_t coming = pin::owner(pid, kComingProcess);
    reserved_for_child = own_reservation.exchange(kNoEntry);
    if (reserved_for_child != kNoEntry && pinning.table.hand_over(reserved_for_child, pin::owner(pid, 0), coming))
        return;
    reserved_for_child = kNoEntry;
    if (pinning.local_rank < 0)
        reserved_for_child = pinning.stride > 0 ? pinning.table.take_block(coming, pinning.stride)
                                                : pinning.table.take(coming);
}

void adopt_reservation() {
    const uint32_t entry = reserved_for_child;
    reserved_for_child = kNoEntry;
    const uint32_t pid = process_id();
    const uint64_t coming = pin::owner(parent_process_id(), kComingProcess);
    if (entry != kNoEntry && pinning.table.hand_over(entry, coming, pin::owner(pid, 0)))
        own_reservation.store(entry);
}

void watch_forks() {
    static bool watching = false;
    if (!watching)
        pthread_atfork(reserve_for_child, nullptr, adopt_reservation);
    watching = true;
}

// --- Threads -------------------------------------------------------------------------------------------------

// The entry of this process's first thread: kept over exec, reserved by the parent, or the next free one.
uint32_t entry_of_process() {
    const uint32_t pid = process_id();
    const uint64_t owner = pin::owner(pid, pid);
    const PinTable& table = pinning.table;
    own_reservation.store(kNoEntry);
    if (pinning.local_rank >= 0) {
        const uint32_t held = table.find_process(pid);
        pinning.first = static_cast<uint32_t>(pinning.local_rank) * pinning.stride;
        // Kept over exec if it lies in the block; else it was reserved by a launcher that knows nothing of ranks.
        if (held != kNoEntry && held >= pinning.first && held < pinning.first + pinning.stride &&
            pin::owner_tid(table.at(held).owner) == pid)
            return held;
        if (held != kNoEntry)
            std::atomic_ref<uint64_t>(table.at(held).owner).store(0, std::memory_order_release);
        return table.take_in_block(owner, pinning.first, pinning.stride);
    }
    uint32_t entry = table.find_process(pid);
    if (entry != kNoEntry) {
        std::atomic_ref<uint64_t>(table.at(entry).owner).store(owner, std::memory_order_release);
    } else {
        // Children of vfork and posix_spawn, which nothing was reserved for: what a dormant parent was given.
        const uint32_t parent = parent_process_id();
        entry = table.find_process(parent);
        if (entry == kNoEntry || !table.hand_over(entry, pin::owner(parent, 0), owner))
            entry = pinning.stride > 0 ? table.take_block(owner, pinning.stride) : table.take(owner);
    }
    pinning.first = entry;
    return entry;
}

void record_placement(uint32_t entry, int cpu, int node, int error) {
    const Guard guard;
    if (!guard)
        return;
    trace::Placement record = {};
    record.time_ns = now_ns();
    record.slot = entry;
    record.cpu = cpu;
    record.memory_node = node;
    record.error = error;
    append(guard, trace::RecordType::Placement, record);
}

// Pins the calling thread, which owns `entry`.
void apply(uint32_t entry) {
    const int cpu = pinning.cpus[pinning.table.position_of(entry)];
    int error = -pin_to_cpu(0, cpu), node = -1;
    const int applied = error == 0 ? cpu : -1;
    if (const char* memory = settings.text(Setting::kPinMemory); memory && error == 0) {
        const int here = current_node();
        error = here < 0 ? -here
                         : -bind_memory(here, strcmp(memory, "strict") == 0 ? MemoryPolicy::strict : MemoryPolicy::prefer);
        node = error == 0 ? here : -1;
    }
    pin::Group& group = pinning.table.group();
    pin::GroupEntry& row = pinning.table.at(entry);
    const bool again = row.pid == process_id() && row.tid == thread_id(); // the same thread after exec
    row.pid = process_id();
    row.tid = thread_id();
    row.cpu = applied;
    row.memory_node = node;
    row.error = error;
    memcpy(row.name, pinning.program, sizeof row.name);
    if (!again) {
        count_one(row.uses);
        count_one(group.threads);
    }
    if (error != 0)
        count_one(group.failed);
    if (pinning.table.wrapped(entry) && !again)
        count_one(group.wrapped);
    record_placement(entry, applied, node, error);
}

bool start(bool) {
    if (!read_settings())
        return false;
    watch_forks();
    const uint32_t entry = entry_of_process();
    if (entry == kNoEntry)
        count_one(pinning.table.group().failed);
    else
        apply(entry);
    return true;
}

// True if a CPU set was put into the attributes: the C library answers with all bits where there is none.
bool has_own_cpus(const pthread_attr_t* attributes) {
    cpu_set_t cpus[kMostCpus / CPU_SETSIZE];
    if (!attributes || pthread_attr_getaffinity_np(attributes, sizeof cpus, cpus) != 0)
        return false;
    const auto* bytes = reinterpret_cast<const unsigned char*>(cpus);
    for (size_t i = 0; i < sizeof cpus; ++i)
        if (bytes[i] != 0xff)
            return true;
    return false;
}

} // namespace

const Collector pin_collector = {"pin", true, start, nullptr, nullptr, nullptr};

void pin_start_dormant() {
    if (!read_settings())
        return;
    const uint32_t pid = process_id();
    const uint32_t entry = pinning.table.find_process(pid);
    if (entry != kNoEntry) {
        // Also the entry of a program that became a shell by exec: the shell itself takes no position.
        std::atomic_ref<uint64_t>(pinning.table.at(entry).owner).store(pin::owner(pid, 0), std::memory_order_release);
        own_reservation.store(entry);
    }
    watch_forks();
}

PinTicket pin_claim(const pthread_attr_t* attributes, const void* start_routine, const void* caller) {
    if (!pinning.cpus)
        return kNoTicket;
    pin::Group& group = pinning.table.group();
    if (has_own_cpus(attributes)) {
        count_one(group.kept);
        return kLeaveAlone;
    }
    const char* more = settings.text(Setting::kPinSkip);
    if (is_helper_library(start_routine, more) || is_helper_library(caller, more)) {
        count_one(group.skipped);
        return kHelperThread;
    }
    const uint64_t owner = pin::owner(process_id(), kComingThread);
    const uint32_t entry = pinning.stride > 0 ? pinning.table.take_in_block(owner, pinning.first, pinning.stride)
                                              : pinning.table.take(owner);
    if (entry == kNoEntry)
        count_one(group.failed);
    return entry == kNoEntry ? kTableFull : entry;
}

void pin_abandon(PinTicket ticket) {
    if (ticket < pin::kGroupEntries)
        pinning.table.release(ticket, pin::owner(process_id(), kComingThread));
}

void pin_begin_thread(PinTicket ticket) {
    if (!pinning.cpus)
        return;
    if (ticket < pin::kGroupEntries) {
        const uint32_t pid = process_id();
        pinning.table.hand_over(ticket, pin::owner(pid, kComingThread), pin::owner(pid, thread_id()));
        apply(ticket);
    } else if (ticket == kHelperThread || ticket == kTableFull) {
        // It inherited the one CPU of its creator, where it would be in the way.
        pin_to_cpus(0, pinning.cpus, pinning.positions);
    }
}

void pin_thread_named(uint32_t tid, const char* name) {
    if (!pinning.cpus || !is_helper_name(name, settings.text(Setting::kPinSkip)))
        return;
    const uint64_t owner = pin::owner(process_id(), tid);
    for (uint32_t entry = 0; entry < pinning.table.group().used && entry < pin::kGroupEntries; ++entry) {
        if (std::atomic_ref<uint64_t>(pinning.table.at(entry).owner).load(std::memory_order_relaxed) != owner)
            continue;
        pin_to_cpus(tid, pinning.cpus, pinning.positions);
        pinning.table.release(entry, owner);
        count_one(pinning.table.group().skipped);
        return;
    }
}

} // namespace plumb::shim
