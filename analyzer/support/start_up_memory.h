// Without memory before plumb has read its command line, nothing of it works: then `plumb run ... -- program` becomes the
// program, unrecorded, and one sentence says so. In force from the first initialiser of plumb's own on.
//
// Below that, where the loader finds no memory for plumb's libraries, nothing of plumb runs that could help.
#pragma once

#include <string_view>

namespace plumb {

// From here on whoever runs out of memory gets std::bad_alloc and sees for himself.
void end_start_up_memory();

// To standard error without any memory, and without stdio: "plumb: TEXT".
void write_words(std::string_view text);

// Becomes the program of this command line; returns when it cannot be executed. `argv`: of the program, ends with null.
void become_program(char** argv);

} // namespace plumb
