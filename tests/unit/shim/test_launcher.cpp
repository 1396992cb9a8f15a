#include "record/process/launcher.h"

#include <catch2/catch.hpp>
#include <string>

using namespace plumb::shim;

TEST_CASE("ranks of each launcher") {
    const char* openmpi[] = {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=1",
                             "PMIX_RANK=3", "SLURM_PROCID=0", nullptr};
    LaunchFacts facts = read_launch_facts(openmpi);
    CHECK(facts.launcher == std::string("openmpi"));
    CHECK((facts.rank == 3 && facts.rank_count == 8 && facts.local_rank == 1));

    const char* slurm[] = {"SLURM_PROCID=12", "SLURM_NTASKS=64", "SLURM_LOCALID=4", "SLURM_STEP_ID=2", nullptr};
    facts = read_launch_facts(slurm);
    CHECK(facts.launcher == std::string("slurm"));
    CHECK((facts.rank == 12 && facts.rank_count == 64 && facts.local_rank == 4));
}

TEST_CASE("no launcher, or one that talks nonsense") {
    const char* nothing[] = {"HOME=/root", nullptr};
    CHECK(read_launch_facts(nothing).launcher == nullptr);
    CHECK(read_launch_facts(nothing).rank == -1);
    CHECK(read_launch_facts(nullptr).rank == -1);
    const char* nonsense[] = {"PMI_RANK=first", "PMIX_RANK=99999999999", nullptr};
    CHECK(read_launch_facts(nonsense).rank == -1);
    const char* partial[] = {"PMI_RANK=2", "PMI_SIZEX=4", nullptr};
    CHECK(read_launch_facts(partial).rank == 2);
    CHECK(read_launch_facts(partial).rank_count == -1);
}

TEST_CASE("a script of a Slurm job is no rank") {
    const char* batch[] = {"SLURM_PROCID=0", "SLURM_NTASKS=64", "SLURM_LOCALID=0", "SLURM_JOB_ID=7", nullptr};
    CHECK(read_launch_facts(batch).launcher == nullptr);
    CHECK(read_job_name(batch).job == nullptr);
    const char* step[] = {"SLURM_PROCID=3", "SLURM_NTASKS=64", "SLURM_JOB_ID=7", "SLURM_STEP_ID=2", nullptr};
    CHECK(read_job_name(step).job == std::string("7"));
    CHECK(read_job_name(step).step == std::string("2"));
}
