#include "model/rank_count.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace plumb::model {

size_t rank_count(const Run& run) {
    std::set<std::tuple<std::string, int, int>> of_mpi; // job, its size, rank
    std::set<std::pair<int, int>> numbers;              // of these: size, rank
    for (const Process& process : run.processes)
        if (process.mpi && process.mpi->rank >= 0) {
            of_mpi.emplace(process.mpi->job, process.mpi->size, process.mpi->rank);
            numbers.emplace(process.mpi->size, process.mpi->rank);
        }
    std::set<std::pair<int, int>> others;
    for (const Process& process : run.processes)
        if (process.rank >= 0 && !numbers.contains({process.rank_count, process.rank}))
            others.emplace(process.rank_count, process.rank);
    return of_mpi.size() + others.size();
}

} // namespace plumb::model
