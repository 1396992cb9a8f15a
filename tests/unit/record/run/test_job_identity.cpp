#include "fake_tree.h"

#include "record/run/job_identity.h"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace plumb;

namespace {

// As long as it lives, a variable of the environment.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

void add_process(const FakeTree& proc, long pid, long parent, std::string arguments) {
    const std::string folder = std::to_string(pid);
    proc.write(folder + "/stat", folder + " (some name) S " + std::to_string(parent) +
                                     " 1 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 700 1000 10 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
    for (char& c : arguments)
        if (c == ' ')
            c = '\0';
    proc.write(folder + "/cmdline", arguments + '\0');
}

std::string job_below(const std::string& proxy, int shells) {
    const FakeTree proc;
    long pid = getppid();
    for (long shell = 0; shell < shells; ++shell) {
        const long parent = 900000 + shell;
        add_process(proc, pid, parent, "/bin/sh -c something");
        pid = parent;
    }
    add_process(proc, pid, 1, proxy);
    return record::JobIdentity::from_environment(proc.root()).id;
}

} // namespace

TEST_CASE("a job of Hydra is known by where its mpiexec listens, also behind shells and on other nodes") {
    const Variable rank("PMI_RANK", "1"), size("PMI_SIZE", "4"), local("MPI_LOCALRANKID", "1");
    const std::string mpich = "/usr/bin/hydra_pmi_proxy --control-port login:41287 --rmk user --pgid 0 --proxy-id ";
    CHECK(job_below(mpich + "0", 0) == "hydra-login_41287");
    CHECK(job_below(mpich + "3", 2) == "hydra-login_41287");
    CHECK(job_below("/opt/bin/hydra_bstrap_proxy --upstream-host login --upstream-port 4128 --pgid 0", 1) == "hydra-login_4128");
    CHECK(job_below("hydra_pmi_proxy --control-port login:41287 --pgid 2", 0) == "hydra-login_41287-2"); // spawned
    CHECK(job_below("other --control-port login:41287", 0).ends_with("-" + std::to_string(getppid())));
    const FakeTree empty;
    const record::JobIdentity job = record::JobIdentity::from_environment(empty.root());
    CHECK(job.id.ends_with("-" + std::to_string(getppid())));
    CHECK(job.rank == 1);
    CHECK(job.rank_count == 4);
}

TEST_CASE("a script of a Slurm job is no rank; a step in it is") {
    const Variable job("SLURM_JOB_ID", "1"), rank("SLURM_PROCID", "0"), count("SLURM_NTASKS", "64");
    CHECK(record::JobIdentity::from_environment().id.empty());
    {
        const Variable step("SLURM_STEP_ID", "4294967291");
        CHECK(record::JobIdentity::from_environment().id.empty());
    }
    const Variable step("SLURM_STEP_ID", "0"), tasks("SLURM_STEP_NUM_TASKS", "2");
    CHECK(record::JobIdentity::from_environment().id == "slurm-1.0");
    CHECK(record::JobIdentity::from_environment().rank_count == 2);
}
