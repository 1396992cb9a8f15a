// What decides which cures apply: the machine, the program and its first run, as plain data.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace plumb::trial {

struct Library {
    std::string name, path; // "libjemalloc.so.2", where it lies
};

enum class Mpi { none, open_mpi, mpich };

struct Facts {
    size_t cpus = 1, cores = 1; // that the command may use; cores: of them, not counting hardware threads of one core
    size_t memory_nodes = 1;    // NUMA nodes with memory
    std::string huge_pages;     // the kernel's setting of transparent ones: "always", "madvise", "never", "": it has none
    bool has_numactl = false;

    std::string why_no_preload;                      // why no library can be put into the program; empty: it can
    bool is_dynamic = true, has_glibc_malloc = true; // the latter: no other allocator is loaded
    bool has_openmp = false;
    Mpi mpi = Mpi::none;
    size_t ranks = 0;                  // of MPI
    size_t threads = 1, processes = 1; // most threads of one process; processes that computed
    std::vector<std::string>
        loaded; // file names of its libraries, versions behind the first number after .so cut: "libblas.so.3"

    std::vector<Library> installed; // of those that cures preload
    std::vector<Library> others;    // of the same names as loaded ones, and other files

    double allocator_fraction = 0, page_fault_fraction = 0; // of the thread time
    double spinning_fraction = 0;                           // in OpenMP, and in loops that only wait
    std::map<std::string, double> library_fractions;        // by the names of `loaded`
    double huge_page_fraction = 0;                          // of the memory of the process that computed most

    std::map<std::string, std::string> environment; // of the variables that cures set, those that are set already
};

} // namespace plumb::trial
