// The name of a function as debug info tells it.
#pragma once

#include <elfutils/libdw.h>
#include <string>

namespace plumb::symbols {

// Of a DW_TAG_subprogram or DW_TAG_inlined_subroutine; empty: it has none. C++ and Rust by linkage name; what has
// none (anonymous namespaces, lambdas, static functions) and Fortran by its enclosing scopes: "heat::step".
std::string function_name(Dwarf_Die* die);

} // namespace plumb::symbols
