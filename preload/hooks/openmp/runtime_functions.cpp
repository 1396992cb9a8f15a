#include "hooks/hooks.h"
#include "hooks/openmp/runtime_functions.h"

#include "platform/elf/loaded_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

namespace plumb::shim::openmp {

constinit std::atomic<void*> global_functions[static_cast<uint32_t>(Name::count)];

namespace {

constexpr const char* kNames[] = {
#define PLUMB_X(family, result, name, parameters) #name,
    PLUMB_OPENMP_HOOKS(PLUMB_X)
#undef PLUMB_X
#define PLUMB_X(name) #name,
    PLUMB_OPENMP_LOOKED_UP(PLUMB_X)
#undef PLUMB_X
};

// Callers whose runtime is not in the global scope, by return address and function. An entry is filled once; when modules
// are unloaded all are given up together by another generation.
struct CallerEntry {
    std::atomic<uint64_t> key; // 0: free, kFilling: not to be read yet
    std::atomic<void*> function;
};
constexpr uint64_t kFilling = 1;
constexpr uint32_t kCallers = 1024;
CallerEntry callers[kCallers];
std::atomic<uint64_t> generation{0};
std::atomic<bool> is_used{false};

uint64_t key_of(Name name, const void* caller) {
    const uint64_t address = reinterpret_cast<uint64_t>(caller);
    return (address << 8 | static_cast<uint64_t>(name)) ^ generation.load(std::memory_order_acquire) << 56;
}

bool is_our_own(const void* address) {
    static const char here = 0;
    return loaded_object(address) == loaded_object(&here);
}

// In the scope of the caller's module: the module, and what it needs.
void* find_in_scope_of(const void* caller, const char* name) {
    const link_map* const module = loaded_object(caller);
    if (!module || !module->l_name || !*module->l_name)
        return nullptr;
    void* const scope = dlopen(module->l_name, RTLD_NOLOAD | RTLD_LAZY);
    if (!scope)
        return nullptr;
    void* const found = dlsym(scope, name);
    dlclose(scope); // it is running: it stays
    return found && !is_our_own(found) ? found : nullptr;
}

// Objects in the order in which they were loaded.
struct Order {
    const void* of[2];
    uint32_t place[2]; // UINT32_MAX: not found
    uint32_t count;
};

int note_order(dl_phdr_info* object, size_t, void* data) {
    Order& order = *static_cast<Order*>(data);
    for (int which = 0; which < 2; ++which) {
        const auto at = reinterpret_cast<ElfW(Addr)>(order.of[which]) - object->dlpi_addr;
        for (int i = 0; i < object->dlpi_phnum; ++i)
            if (const ElfW(Phdr)& header = object->dlpi_phdr[i];
                header.p_type == PT_LOAD && at >= header.p_vaddr && at < header.p_vaddr + header.p_memsz)
                order.place[which] = order.count;
    }
    ++order.count;
    return 0;
}

Order order_of(const void* first, const void* second) {
    Order order{{first, second}, {UINT32_MAX, UINT32_MAX}, 0};
    dl_iterate_phdr(note_order, &order);
    return order;
}

uint32_t objects_at_start = 0; // these are never unloaded

} // namespace

void note_objects_at_start() { objects_at_start = order_of(nullptr, nullptr).count; }

// A reference is bound to the global scope before its module's own. What is there from the start, every caller is bound to. A
// library that entered the global scope later is what modules are bound to that were loaded later still.
void* find_behind(Name name, const void* caller) {
    const uint64_t key = key_of(name, caller);
    CallerEntry& entry = callers[(key * 0x9e3779b97f4a7c15u >> 40) % kCallers];
    if (entry.key.load(std::memory_order_acquire) == key)
        return entry.function.load(std::memory_order_relaxed);
    const int error_of_program = errno;
    const char* const text = kNames[static_cast<uint32_t>(name)];
    void* found = dlsym(RTLD_NEXT, text);
    bool is_shared = false;
    if (found) {
        const Order order = order_of(found, caller);
        is_shared = order.place[0] < objects_at_start;
        if (!is_shared && order.place[0] > order.place[1])
            if (void* const own = find_in_scope_of(caller, text))
                found = own;
    } else {
        found = find_in_scope_of(caller, text);
    }
    errno = error_of_program;
    if (is_shared)
        global_functions[static_cast<uint32_t>(name)].store(found, std::memory_order_release);
    uint64_t former = entry.key.load(std::memory_order_relaxed);
    if (!found || is_shared || former == kFilling ||
        !entry.key.compare_exchange_strong(former, kFilling, std::memory_order_acquire))
        return found;
    is_used.store(true, std::memory_order_relaxed);
    entry.function.store(found, std::memory_order_relaxed);
    entry.key.store(key, std::memory_order_release);
    return found;
}

void forget_callers() {
    if (is_used.load(std::memory_order_relaxed))
        generation.fetch_add(1, std::memory_order_acq_rel);
}

} // namespace plumb::shim::openmp
