#include "platform/code/code_patch.h"

#include "platform/os/maps_file.h"
#include "platform/os/system_call.h"

#include <atomic>
#include <linux/membarrier.h>
#include <sys/mman.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kPatchPage = 4096;
constexpr uint8_t kBreakpoint = 0xcc;

// What a forked child has to finish; null: nothing is half done.
struct Change {
    const CodePatch* patch;
    bool back;
};
Change current;
std::atomic<bool> changing{false};

long barrier(int command) { return system_call(SYS_membarrier, command, 0, 0); }

// All threads of the process execute a serializing instruction before this returns.
bool synchronize_processors() {
    if (barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0)
        return true;
    return barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0 && // a forked child's first time
           barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
}

void put(uint64_t address, uint8_t byte) {
    std::atomic_ref<uint8_t>(*reinterpret_cast<uint8_t*>(address)).store(byte, std::memory_order_release);
}

long protect(const CodePatch& patch, int protection) {
    const uint64_t first = patch.address & ~(kPatchPage - 1);
    const uint64_t end = (patch.address + patch.length + kPatchPage - 1) & ~(kPatchPage - 1);
    return system_call(SYS_mprotect, static_cast<long>(first), static_cast<long>(end - first), protection);
}

void write_bytes(const CodePatch& patch, const uint8_t* bytes) {
    for (int i = patch.kept + 1; i < patch.length; ++i)
        put(patch.address + static_cast<uint64_t>(i), bytes[i]);
}

int change(const CodePatch& patch, bool back) {
    if (!can_patch_code())
        return -1;
    if (const long result = protect(patch, PROT_READ | PROT_WRITE | PROT_EXEC); result < 0)
        return static_cast<int>(result);
    const uint8_t* bytes = back ? patch.before : patch.after;
    const uint64_t first = patch.address + patch.kept;
    current = {&patch, back};
    changing.store(true, std::memory_order_release);
    put(first, kBreakpoint);
    int result = 0;
    if (synchronize_processors()) {
        write_bytes(patch, bytes);
        synchronize_processors();
        put(first, bytes[patch.kept]);
        synchronize_processors();
    } else { // taken back before any other byte has changed
        put(first, (back ? patch.after : patch.before)[patch.kept]);
        result = -1;
    }
    protect(patch, PROT_READ | PROT_EXEC);
    changing.store(false, std::memory_order_release);
    return result;
}

struct Wanted {
    uint64_t start, end;
    bool found;
};

bool look_at_mapping(const Mapping& mapping, void* data) {
    auto& wanted = *static_cast<Wanted*>(data);
    if (mapping.end <= wanted.start)
        return true;
    wanted.found = mapping.start <= wanted.start && mapping.executable && !mapping.writable && !mapping.shared &&
                   mapping.inode != 0;
    // A page that was patched before may be a mapping of its own: code may go on in the next one.
    wanted.start = mapping.end;
    return wanted.found && wanted.start < wanted.end;
}

} // namespace

bool can_patch_code() {
    static std::atomic<int> answer{0}; // 0: not asked, 1: yes, 2: no
    int known = answer.load(std::memory_order_relaxed);
    if (known == 0) {
        known = barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0 && synchronize_processors() ? 1 : 2;
        answer.store(known, std::memory_order_relaxed);
    }
    return known == 1;
}

bool is_file_code(uint64_t address, uint64_t bytes) {
    static char buffer[8192]; // under the callers' lock
    Wanted wanted{address, address + bytes, false};
    for_each_mapping("/proc/self/maps", buffer, sizeof buffer, look_at_mapping, &wanted);
    return wanted.found && wanted.start >= wanted.end;
}

int apply_patch(const CodePatch& patch) { return change(patch, false); }
int undo_patch(const CodePatch& patch) { return change(patch, true); }

void finish_interrupted_patch() {
    if (!changing.load(std::memory_order_acquire))
        return;
    const CodePatch& patch = *current.patch;
    const uint8_t* bytes = current.back ? patch.before : patch.after;
    if (protect(patch, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) { // this is the only thread: no order to keep
        for (int i = patch.kept; i < patch.length; ++i)
            put(patch.address + static_cast<uint64_t>(i), bytes[i]);
        protect(patch, PROT_READ | PROT_EXEC);
    }
    changing.store(false, std::memory_order_release);
}

} // namespace plumb::shim
