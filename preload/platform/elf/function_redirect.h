// Changes what lookups find under a function's name in a loaded image, in the image's symbol table in memory: what was
// bound before keeps calling the function itself.
#pragma once

#include <link.h>

namespace plumb::shim {

// All versions of `name` that the image defines lead to `to` from now on; `former`, set before that, is the function's
// address. False: the image has no such function, or several different ones, or its symbol table cannot be written.
// Neither allocates nor takes locks; lookups of other threads meanwhile find the one or the other.
bool redirect_function(const dl_phdr_info& image, const char* name, void* to, void** former);

} // namespace plumb::shim
