#include "fake_tree.h"

#include "placement/launcher_ranks.h"

#include <plumb/launchers.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <unistd.h>

using namespace plumb;

namespace {

using Environment = std::map<std::string, std::string>;
Environment variables;
const char* get(const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
}

// "launcher rank/count local_rank/local_count job"; "none". `ancestors`: names of the processes above us, nearest first.
std::string rank_in(Environment environment, const std::vector<std::string>& ancestors = {}) {
    const FakeTree proc;
    long pid = getppid();
    for (size_t i = 0; i < ancestors.size(); ++i) {
        const long parent = i + 1 == ancestors.size() ? 1 : 900000 + static_cast<long>(i);
        const std::string folder = std::to_string(pid);
        proc.write(folder + "/stat", folder + " (" + ancestors[i] + ") S " + std::to_string(parent) +
                                         " 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 700 1000 10 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
        pid = parent;
    }
    variables = std::move(environment);
    const auto rank = placement::launched_rank(get, proc.root());
    if (!rank)
        return "none";
    const auto pair = [](int a, int b) { return std::to_string(a) + "/" + std::to_string(b); };
    return rank->launcher + " " + pair(rank->rank, rank->count) + " " + pair(rank->local_rank, rank->local_count) + " " + rank->job;
}

Environment both(Environment inner, const Environment& outer) {
    inner.insert(outer.begin(), outer.end());
    return inner;
}

const Environment kSlurmBatch = {{"SLURM_JOB_ID", "4711"}, {"SLURM_JOBID", "4711"}, {"SLURM_PROCID", "0"},
    {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}, {"SLURM_NTASKS", "64"}, {"SLURM_NPROCS", "64"},
    {"SLURM_TASKS_PER_NODE", "32(x2)"}, {"SLURM_GTIDS", "0"}, {"SLURM_TASK_PID", "901"}, {"ENVIRONMENT", "BATCH"}};
const Environment kSlurmStep = both({{"SLURM_STEP_ID", "3"}, {"SLURM_STEPID", "3"}, {"SLURM_PROCID", "9"},
    {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "2"}, {"SLURM_NTASKS", "11"}, {"SLURM_STEP_NUM_TASKS", "11"},
    {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}}, kSlurmBatch);
const Environment kHydra = {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"PMI_FD", "9"}, {"MPI_LOCALRANKID", "1"},
    {"MPI_LOCALNRANKS", "2"}};
const Environment kOpenMpi4 = {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "8"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"OMPI_MCA_ess_base_jobid", "1310195713"},
    {"OMPI_MCA_ess_base_vpid", "2"}, {"PMIX_NAMESPACE", "1310195713"}, {"PMIX_RANK", "2"}};

} // namespace

TEST_CASE("environments of one launcher") {
    CHECK(rank_in({{"HOME", "/root"}}) == "none");
    CHECK(rank_in(kSlurmBatch) == "none");
    CHECK(rank_in(both({{"SLURM_STEP_ID", "4294967291"}}, kSlurmBatch)) == "none"); // the batch step
    CHECK(rank_in(both({{"SLURM_STEP_ID", "-6"}}, kSlurmBatch)) == "none");         // the interactive step
    CHECK(rank_in(kSlurmStep) == "slurm 9/11 1/3 4711.3");
    CHECK(rank_in(both({{"PMIX_RANK", "9"}, {"PMIX_NAMESPACE", "slurm.pmix.4711.3"}}, kSlurmStep)) == "slurm 9/11 1/3 4711.3");
    CHECK(rank_in(both({{"PMI_RANK", "9"}, {"PMI_SIZE", "11"}, {"PMI_JOBID", "4711.3"}}, kSlurmStep)) == "slurm 9/11 1/3 4711.3");
    CHECK(rank_in({{"PBS_JOBID", "12.head"}, {"PBS_NODENUM", "0"}, {"PBS_TASKNUM", "1"}, {"PBS_NODEFILE", "/var/n"}}) == "none");
    CHECK(rank_in({{"LSB_JOBID", "12"}, {"LSB_HOSTS", "a a b b"}, {"LS_JOBPID", "77"}}) == "none");
    CHECK(rank_in({{"LSB_JOBID", "12"}, {"JSM_NAMESPACE_RANK", "5"}, {"JSM_NAMESPACE_SIZE", "12"},
                   {"JSM_NAMESPACE_LOCAL_RANK", "5"}, {"JSM_NAMESPACE_LOCAL_SIZE", "6"}, {"PMIX_NAMESPACE", "1"},
                   {"PMIX_RANK", "5"}}) == "jsrun 5/12 5/6 1");
    CHECK(rank_in({{"FLUX_TASK_RANK", "3"}, {"FLUX_TASK_LOCAL_ID", "1"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "2"},
                   {"FLUX_JOB_ID", "f8Zk"}, {"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"PMI_FD", "14"}}) == "flux 3/4 1/-1 f8Zk");
    CHECK(rank_in({{"PALS_RANKID", "5"}, {"PALS_NODEID", "1"}, {"PALS_LOCAL_RANKID", "1"}, {"PALS_LOCAL_SIZE", "4"},
                   {"PALS_APID", "0a-1b"}, {"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"PBS_JOBID", "12.head"}}) == "pals 5/8 1/4 0a-1b");
    CHECK(rank_in(kHydra) == "hydra 1/4 1/2 ");
    CHECK(rank_in(both({{"I_MPI_HYDRA_BOOTSTRAP", "ssh"}, {"I_MPI_MPIRUN", "mpirun"}}, kHydra)) == "hydra 1/4 1/2 ");
    CHECK(rank_in(kOpenMpi4) == "openmpi 2/8 2/4 1310195713");
    CHECK(rank_in(both({{"PMIX_NAMESPACE", "prterun-login-77@1"}, {"PMIX_RANK", "2"}}, kOpenMpi4)) == "openmpi 2/8 2/4 prterun-login-77@1");
    CHECK(rank_in({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}, {"MV2_COMM_WORLD_LOCAL_RANK", "0"},
                   {"MV2_COMM_WORLD_LOCAL_SIZE", "1"}, {"PMI_ID", "1"}}) == "mvapich 1/2 0/1 ");
    CHECK(rank_in({{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "n"}, {"PMIX_LOCAL_RANK", "5"}}) == "pmix 5/-1 5/-1 n");
}

TEST_CASE("one launcher inside another: the one that started us counts") {
    CHECK(rank_in(both(kOpenMpi4, kSlurmBatch)) == "openmpi 2/8 2/4 1310195713");
    CHECK(rank_in(both(kHydra, kSlurmBatch)) == "hydra 1/4 1/2 ");
    CHECK(rank_in(both(kOpenMpi4, kSlurmStep)) == "openmpi 2/8 2/4 1310195713"); // its daemons run in a step
    CHECK(rank_in(both(kOpenMpi4, kSlurmStep), {"bash", "orted", "slurmstepd"}) == "openmpi 2/8 2/4 1310195713");
    CHECK(rank_in(both(kHydra, kSlurmStep), {"hydra_pmi_proxy", "slurmstepd"}) == "hydra 1/4 1/2 ");
    CHECK(rank_in(both(kSlurmStep, kOpenMpi4), {"sh", "slurmstepd", "srun", "sh", "orted"}) == "slurm 9/11 1/3 4711.3"); // srun below mpirun
    CHECK(rank_in(both(kHydra, kOpenMpi4), {"hydra_pmi_proxy", "mpiexec.hydra", "sh", "mpirun"}) == "hydra 1/4 1/2 ");
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
    CHECK(launchers::number_of_node("4(x2),3", 1) == 4);
    CHECK(launchers::number_of_node("4(x2),3", 2) == 3);
    CHECK(launchers::number_of_node("4(x2),3", 3) == -1);
    CHECK(launchers::number_of_node("4(x", 1) == -1);
    CHECK(launchers::number_of_node(nullptr, 0) == -1);
}
