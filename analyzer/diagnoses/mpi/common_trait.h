// What several ranks of a job have in common that the others have not.
#pragma once

#include "model/mpi_job.h"
#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

struct CommonTrait {
    enum class Kind {
        none,
        node,       // they are all recorded ranks of some nodes
        executable, // all that run some executables
        stride,     // every nth rank of the job
        range,      // consecutive ranks
    };
    Kind kind = Kind::none;
    std::string words; // "node n2", "ocean.exe", "every fourth rank", empty for the others

    // It alone says that they are late for one reason.
    bool is_place() const { return kind == Kind::node || kind == Kind::executable; }
};

// `rows`: of the job, by rank. One rank has nothing in common with others.
CommonTrait common_trait(const model::Run& run, const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& rows);

// "3", "8-15", "0, 4, 8, 12", "0-3, 8-11": of ascending numbers; what is long is cut.
std::string ranks_in_words(const std::vector<int>& ranks);

} // namespace plumb
