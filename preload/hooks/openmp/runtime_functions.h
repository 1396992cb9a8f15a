// What stands behind the hooks of OpenMP functions.
//
// A program may have several OpenMP runtimes loaded, each with threads and locks of its own (modules of Python bring theirs
// along). A call must reach the one that it would have reached without the shim: the first in the global scope, which all
// callers share; else the one in the scope of the module that calls.
#pragma once

#include "hooks/hook_list.h"
#include "platform/os/hidden.h"

#include <atomic>
#include <stdint.h>

namespace plumb::shim::openmp {

// X(name) of everything that is looked up: the hooks, and what they need to know.
#define PLUMB_OPENMP_LOOKED_UP(X)                                                                            \
    X(omp_get_thread_num) X(omp_get_num_threads) X(omp_get_max_threads) X(omp_test_lock) X(omp_test_lock_)   \
    X(omp_test_nest_lock) X(omp_test_nest_lock_)

enum class Name : uint32_t {
#define PLUMB_X(family, result, name, parameters) name,
    PLUMB_OPENMP_HOOKS(PLUMB_X)
#undef PLUMB_X
#define PLUMB_X(name) name,
    PLUMB_OPENMP_LOOKED_UP(PLUMB_X)
#undef PLUMB_X
    count
};

extern std::atomic<void*> global_functions[static_cast<uint32_t>(Name::count)] PLUMB_HIDDEN;

// From the constructor: what the program was linked with is loaded, nothing else.
void note_objects_at_start();

// Looks it up. Null: the caller's module has no such function. errno is untouched.
void* find_behind(Name name, const void* caller);

// `caller`: the return address of the hook.
template <class Function> Function* behind(Name name, const void* caller) {
    void* found = global_functions[static_cast<uint32_t>(name)].load(std::memory_order_acquire);
    if (__builtin_expect(!found, 0))
        found = find_behind(name, caller);
    return reinterpret_cast<Function*>(found);
}

// A module may have been unloaded: others may come to lie at its addresses.
void forget_callers();

} // namespace plumb::shim::openmp
