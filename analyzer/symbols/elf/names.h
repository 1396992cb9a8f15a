// Function names as the people who wrote them would say them: from linker symbols and debug info to
// `Grid::relax`, `solver::step`, `main [omp region 0]`. Parameters are dropped, as perf does; the source line tells
// overloads apart.
#pragma once

#include <string>
#include <string_view>

namespace plumb::symbols {

// Any linker symbol: C++ (Itanium ABI), Rust (legacy and v0), gfortran's module procedures, names that gcc and clang
// derive from others (foo.constprop.0 -> "foo [clone .constprop.0]", foo._omp_fn.1 -> "foo [omp region 1]").
// Unknown forms come back unchanged.
std::string readable_name(std::string_view symbol);

// Names of the standard library's strings as people write them, and ">>" for "> >".
std::string tidy_name(std::string name);

// " [omp region 1]" for the function that a compiler made of a parallel region ("foo._omp_fn.1"), else empty.
std::string omp_region_of(std::string_view symbol);

// A symbol of a file that was compiled by gfortran, which appends '_' to what is in no module and ".N" to procedures
// inside others: "daxpy_" -> "daxpy". Other names as readable_name.
std::string readable_fortran_name(std::string_view symbol);

// A demangled C++ declaration without return type, parameters and qualifiers; what it cannot read it returns whole.
// "void ns::f<int>(std::vector<int>&) const" -> "ns::f<int>"
std::string without_signature(std::string_view declaration);

} // namespace plumb::symbols
