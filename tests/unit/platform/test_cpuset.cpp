// Fake roots: cgroup v2, v1, containers that see a part of the hierarchy only, and nonsense.
#include "platform/cpuset.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace fs = std::filesystem;
using Cpus = std::vector<int>;
using namespace plumb::platform;

namespace {

class FakeRoot {
  public:
    FakeRoot() {
        std::string name = (fs::temp_directory_path() / "plumb-cpuset-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~FakeRoot() { fs::remove_all(path_); }
    FakeRoot& file(const std::string& name, const std::string& text) {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
        return *this;
    }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

const char* const kVersion2 = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const char* const kVersion1 = "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                              "32 25 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

} // namespace

TEST_CASE("cgroup v2: the process's own cgroup states its effective CPUs") {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/slurm/job_7/step_0\n").file("proc/self/mountinfo", kVersion2);
    root.file("sys/fs/cgroup/slurm/job_7/step_0/cpuset.cpus.effective", "8-11,40\n");
    CHECK(cpuset_cpus(root.path()) == Cpus{8, 9, 10, 11, 40});
}

TEST_CASE("cgroup v2: without the controller in its own cgroup the nearest one above counts") {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/user.slice/session-1.scope\n").file("proc/self/mountinfo", kVersion2);
    root.file("sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-3\n");
    root.file("sys/fs/cgroup/cpuset.cpus.effective", "0-63\n");
    CHECK(cpuset_cpus(root.path()) == Cpus{0, 1, 2, 3});
}

TEST_CASE("cgroup v1: the cpuset hierarchy, whichever line it is on") {
    FakeRoot root;
    root.file("proc/self/cgroup", "4:memory:/elsewhere\n3:cpuset,cpu:/torque/12.host\n0::/\n");
    root.file("proc/self/mountinfo", kVersion1);
    root.file("sys/fs/cgroup/cpuset/torque/12.host/cpuset.cpus", "4,6\n");
    CHECK(cpuset_cpus(root.path()) == Cpus{4, 6});
}

TEST_CASE("a container that mounts its own part of the hierarchy") {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/docker/abc/inner\n");
    root.file("proc/self/mountinfo", "30 25 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
    root.file("sys/fs/cgroup/inner/cpuset.cpus.effective", "2\n");
    CHECK(cpuset_cpus(root.path()) == Cpus{2});
}

TEST_CASE("no cpuset, or one that cannot be read, is an empty set") {
    FakeRoot root;
    CHECK(cpuset_cpus(root.path()).empty());
    root.file("proc/self/cgroup", "nonsense\n0::/a\n").file("proc/self/mountinfo", "short\n" + std::string(kVersion2));
    CHECK(cpuset_cpus(root.path()).empty());
    root.file("sys/fs/cgroup/a/cpuset.cpus.effective", "1-x\n");
    CHECK(cpuset_cpus(root.path()).empty());
}

TEST_CASE("relative CPUs count over mask and cpuset together") {
    FakeRoot root;
    root.file("proc/self/cgroup", "0::/\n").file("proc/self/mountinfo", kVersion2);
    root.file("sys/fs/cgroup/cpuset.cpus.effective", "2-5\n");
    CHECK(allowed_cpus(root.path(), {3, 4, 9}) == Cpus{3, 4});
    CHECK(allowed_cpus(root.path(), {3, 4, 9}, true) == Cpus{2, 3, 4, 5});
    CHECK(allowed_cpus(root.path(), {8, 9}) == Cpus{8, 9}); // disjoint: what the kernel says wins
    CHECK(allowed_cpus("/nonexistent", {8, 9}, true) == Cpus{8, 9});
}

TEST_CASE("the affinity mask of this process is not empty") { CHECK(!affinity_mask().empty()); }
