// What counts as a rank: what called MPI, and what a launcher numbered; not every command of a rank's script.
#include "model/rank_count.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

// rank -1: none
void add(model::Run& run, int rank, int count, const char* job = nullptr) {
    model::Process& process = run.processes.emplace_back();
    process.rank = rank;
    process.rank_count = rank < 0 ? -1 : count;
    if (!job)
        return;
    process.mpi.emplace();
    process.mpi->rank = rank;
    process.mpi->size = count;
    process.mpi->job = job;
}

} // namespace

TEST_CASE("the commands that the script of a rank starts are no further ranks") {
    model::Run run;
    CHECK(model::rank_count(run) == 0);
    add(run, -1, 0); // mpirun
    CHECK(model::rank_count(run) == 0);
    for (int rank = 0; rank < 2; ++rank)
        for (int command = 0; command < 7; ++command)
            add(run, rank, 2);
    CHECK(model::rank_count(run) == 2);
    for (int rank = 0; rank < 2; ++rank)
        add(run, rank, 2, "first");
    CHECK(model::rank_count(run) == 2);
    for (int rank = 0; rank < 2; ++rank)
        add(run, rank, 2, "second"); // a second mpirun of the same script
    CHECK(model::rank_count(run) == 4);
    add(run, 2, 3); // of a third, which never called MPI
    CHECK(model::rank_count(run) == 5);
}
