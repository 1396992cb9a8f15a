// Names of functions and of static variables as debug info tells them.
#pragma once

#include <elfutils/libdw.h>
#include <string>

namespace plumb::symbols {

// Of a DW_TAG_subprogram or DW_TAG_inlined_subroutine; empty: it has none. C++ and Rust by linkage name; what has
// none (anonymous namespaces, lambdas, static functions) and Fortran by its enclosing scopes: "heat::step".
std::string function_name(Dwarf_Die* die);

// Of a DW_TAG_variable with its namespaces, classes or modules, "ns::cells", or the function that it is a static of:
// "solve()::seed".
std::string static_name(Dwarf_Die* variable);

} // namespace plumb::symbols
