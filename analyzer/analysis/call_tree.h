// Where the threads of a run spent their time, by call path: every function below its callers, on the CPU and off it.
#pragma once

#include "analyses/time/time_account.h"
#include "model/call_paths.h"

#include <string>
#include <vector>

namespace plumb {

struct CallTreeNode {
    std::string name;   // function as users write it; of a wait what is waited for; of the root empty
    std::string module; // file name of the program or library; empty: of the root, a program's name, a wait
    TimeClass kind = TimeClass::computing; // what most of `seconds` is: computing, kernel, mpi, spinning, team, plumb or blocked
    double seconds = 0; // thread seconds here and in all below
    std::vector<CallTreeNode> children; // by time; what is below a thousandth of the run is left out
};

// The times are those of `account`: samples and looks are scaled to what each thread ran and was blocked. Left out, as there,
// are threads that wait by design and waits for threads and processes to end; and time without a CPU, which has no call path.
// Several processes stand below their programs' names, a
// path whose outer part is missing below "callers not known". At most `most` nodes. Not thread-safe: `paths` remembers names.
CallTreeNode call_tree_of(model::CallPaths& paths, const TimeAccount& account, size_t most);

} // namespace plumb
