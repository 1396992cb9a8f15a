// The environment that a program is to be started with.
//
// The loader of a 32-bit program (or of another machine's) cannot preload this library and would say so on the
// program's standard error. So where the new program is such a one, the shim's own entries are taken out of
// LD_PRELOAD; the program and what it starts run unwatched. Everything else gets what the caller gave.
#pragma once

#include "platform/os/program_file.h"
#include "record/process/process.h"

#include <stddef.h>
#include <string.h>

namespace plumb::shim {

// The LD_PRELOAD of an environment if the shim stands in it; null: it does not.
const char* own_preload_of(char* const* environment);

// Writes the variable without the shim's entries: at most strlen(preload) + 1 bytes. False: nothing is left of it.
bool write_foreign_preload(const char* preload, char* text);

// Copies the environment with `text` (null: none) in the place of `preload`; at most as long as it was.
void copy_environment(char* const* environment, const char* preload, char* text, char** copy);

inline size_t environment_size(char* const* environment) {
    size_t count = 0;
    while (environment[count])
        ++count;
    return count;
}

// Calls start(environment), with an environment that suits the program; kind() is asked only if it matters, and may
// run in a vfork child. Returns what start() returns. The copy lies on the stack: a vfork child must not leave anything behind in its parent, and
// exec replaces the stack.
template <class Kind, class Start> int start_in_environment(char* const* environment, Kind kind, Start start) {
    constexpr size_t kMaxVariables = 4096, kMaxText = 16384; // beyond them the loader's message is the lesser evil
    const char* const preload = environment && !is_confined() ? own_preload_of(environment) : nullptr;
    if (!preload || kind() != ProgramKind::foreign)
        return start(environment);
    const size_t count = environment_size(environment), length = strlen(preload);
    if (count > kMaxVariables || length > kMaxText)
        return start(environment);
    auto** const copy = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
    auto* const text = static_cast<char*>(__builtin_alloca(length + 1));
    copy_environment(environment, preload, write_foreign_preload(preload, text) ? text : nullptr, copy);
    return start(static_cast<char* const*>(copy));
}

} // namespace plumb::shim
