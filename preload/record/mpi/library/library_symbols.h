// Where the functions and variables of the MPI library are.
#pragma once

namespace plumb::shim::mpi {

// A variable as the program itself sees it: the copy in the executable where the linker made one. Null: there is none.
void* find_variable(const char* name);

template <class Function> Function find_function_as(void* (*find)(const char*), const char* name) {
    return reinterpret_cast<Function>(find(name));
}

} // namespace plumb::shim::mpi
