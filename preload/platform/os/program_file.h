// What kind of program a file is, asked before it replaces the process.
#pragma once

namespace plumb::shim {

enum class ProgramKind { unknown, native, foreign };

// native: a library of this process's kind can be preloaded into it, as far as class and machine of its ELF file tell;
// foreign: it cannot (a 32-bit program, another machine's). A script is what its interpreter is. `directory` and `path`
// as in openat(), a path "" is the descriptor's own file; unknown: it cannot be read, or is neither.
// Signal-safe, usable in a vfork child; errno is untouched.
ProgramKind kind_of_program(int directory, const char* path);

// The same for a name that execvp() looks for in `search_path` (null: the C library's own choice).
ProgramKind kind_of_program_in(const char* search_path, const char* name);

} // namespace plumb::shim
