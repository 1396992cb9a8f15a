// An ordinary program has its MPI library in the global scope, behind this one. A module that was opened privately
// (a Python extension) has it in its own scope: no search order that starts here leads there, so the loaded objects
// are asked one by one, and the first in whose scope there is such a function is remembered.
#include "record/mpi/library/library_symbols.h"

#include "platform/elf/loaded_object.h"
#include "platform/elf/loaded_paths.h"
#include "record/mpi/library/library.h"

#include <atomic>
#include <dlfcn.h>
#include <errno.h>

namespace plumb::shim::mpi {
namespace {

std::atomic<void*> private_scope{nullptr}; // a handle that is never closed: what was found in it stays there

bool is_our_own(const void* address) {
    static const char here = 0;
    return loaded_object(address) == loaded_object(&here);
}

void* find_privately(const char* name) {
    if (void* const scope = private_scope.load(std::memory_order_acquire))
        return dlsym(scope, name);
    const LoadedPaths loaded;
    for (const char* path = loaded.first(); path; path = loaded.behind(path)) {
        void* const scope = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
        if (!scope)
            continue;
        void* const found = dlsym(scope, name);
        if (found && !is_our_own(found)) {
            private_scope.store(scope, std::memory_order_release);
            return found;
        }
        dlclose(scope);
    }
    return nullptr;
}

} // namespace

void* find_function(const char* name) {
    const int error_of_program = errno;
    void* found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = find_privately(name);
    errno = error_of_program;
    return found;
}

void* find_own_function(const char* name) { return find_function(name); }

void* find_variable(const char* name) {
    const int error_of_program = errno;
    void* found = dlsym(RTLD_DEFAULT, name);
    void* const scope = private_scope.load(std::memory_order_acquire);
    if (!found && scope)
        found = dlsym(scope, name);
    errno = error_of_program;
    return found;
}

} // namespace plumb::shim::mpi
