#include "placement/launcher_ranks.h"

#include <plumb/launchers.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>

using namespace plumb;

namespace {

std::map<std::string, std::string> variables;
const char* get(const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
}

} // namespace

TEST_CASE("local ranks of the launchers") {
    variables = {};
    CHECK_FALSE(placement::local_rank(get));
    variables = {{"OMPI_COMM_WORLD_LOCAL_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}};
    CHECK(placement::local_rank(get)->rank == 3);
    CHECK(placement::local_rank(get)->count == 8);
    variables = {{"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
    CHECK(placement::local_rank(get)->rank == 0);
    CHECK(std::string(placement::local_rank(get)->launcher) == "hydra");
    variables = {{"PMIX_LOCAL_RANK", "5"}};
    CHECK(placement::local_rank(get)->rank == 5);
    CHECK(placement::local_rank(get)->count == -1);
}

TEST_CASE("mpirun inside a batch job: the inner launcher's rank counts, not the batch step's") {
    variables = {{"SLURM_LOCALID", "0"}, {"SLURM_NTASKS_PER_NODE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}};
    CHECK(placement::local_rank(get)->rank == 2);
}

TEST_CASE("numbers in launchers' variables") {
    CHECK(launchers::number("4(x2)") == 4);
    CHECK(launchers::number("4,2") == 4);
    CHECK(launchers::number("0") == 0);
    CHECK(launchers::number("") == -1);
    CHECK(launchers::number("-1") == -1);
    CHECK(launchers::number("x") == -1);
    CHECK(launchers::number("99999999999") == -1);
    CHECK(launchers::number(nullptr) == -1);
}
