#include "placement/placement_table.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <plumb/pin_group.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::placement;

namespace {

std::vector<int> first(int count) {
    std::vector<int> cpus(static_cast<size_t>(count));
    std::iota(cpus.begin(), cpus.end(), 0);
    return cpus;
}

// What a pinned process does to the table: maps the same file.
pin::Group* map_as_shim(const PinGroup& group) {
    const int file = open(group.path().c_str(), O_RDWR);
    void* memory = mmap(nullptr, sizeof(pin::Group), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return static_cast<pin::Group*>(memory);
}

} // namespace

TEST_CASE("the plan as a table: position, relative and absolute number, and where it is") {
    const platform::Topology machine = platform::topology_from_synthetic("pack:2 numa:2 l3:1 core:4 pu:2");
    std::vector<int> allowed = first(32);
    allowed.erase(allowed.begin(), allowed.begin() + 8);
    const Wish wish = parse_wish("spread:3");
    const std::string text = format_plan(plan_cpus(machine, allowed, wish), machine, allowed, wish, 4, 1);
    CHECK_THAT(text, Catch::Contains("spread:3: 8 position(s) on the 24 CPU(s) this job may use (8-31)"));
    CHECK_THAT(text, Catch::Contains("each process takes 4 position(s); this is local rank 1"));
    CHECK_THAT(text, Catch::Contains("         1         3    11       0     1   5+1\n"));
    CHECK_THAT(text, Catch::Contains("fill the gaps"));
}

TEST_CASE("a plan of a large machine stays on a page and leaves nothing out silently") {
    const platform::Topology machine = platform::topology_from_synthetic("pack:8 numa:4 l3:2 core:4 pu:2");
    const Wish wish = parse_wish("compact");
    const std::string text = format_plan(plan_cpus(machine, first(512), wish), machine, first(512), wish, 0, -1);
    CHECK(std::count(text.begin(), text.end(), '\n') < 24);
    CHECK_THAT(text, Catch::Contains("then, in this order, CPUs "));
}

TEST_CASE("what was applied, refused, shared, kept and skipped is said") {
    const platform::Topology machine = platform::topology_from_synthetic("pack:1 core:2 pu:1");
    const Plan plan = plan_cpus(machine, first(2), parse_wish("compact"));
    std::string path;
    {
        const PinGroup group("");
        path = group.path();
        CHECK(format_applied(plan, machine, group).empty());
        pin::Group* table = map_as_shim(group);
        CHECK(table->magic == pin::kGroupMagic);
        table->entry[0] = {0, 100, 100, 1, 0, 0, 0, "solver"};
        table->entry[1] = {0, 100, 101, 3, -1, -1, EINVAL, "solver"};
        table->entry[2] = {0, 100, 102, 1, 0, -1, EPERM, "solver"};
        table->threads = 5;
        table->wrapped = 1;
        table->failed = 2;
        table->kept = 4;
        table->skipped = 6;
        const std::string text = format_applied(plan, machine, group);
        CHECK_THAT(text, Catch::Contains("100      100  solver, memory on node 0\n"));
        CHECK_THAT(text, Catch::Contains("101  solver, the last of 3 in turn, REFUSED: Invalid argument\n"));
        CHECK_THAT(text, Catch::Contains("0 (round 2)     0"));
        CHECK_THAT(text, Catch::Contains("memory not bound: Operation not permitted"));
        CHECK_THAT(text, Catch::Contains("1 thread(s) shared a CPU"));
        CHECK_THAT(text, Catch::Contains("4 thread(s) were created with their own CPU mask"));
        CHECK_THAT(text, Catch::Contains("6 helper thread(s)"));
        munmap(table, sizeof *table);
    }
    CHECK_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

TEST_CASE("a table in a run directory stays, and one that cannot be made is said") {
    std::string directory = (std::filesystem::temp_directory_path() / "plumb-group-XXXXXX").string();
    REQUIRE(mkdtemp(directory.data()));
    { const PinGroup group(directory); }
    CHECK(std::filesystem::file_size(directory + "/placement") == sizeof(pin::Group));
    std::filesystem::remove_all(directory);
    CHECK_THROWS_WITH(PinGroup(directory), Catch::Contains("cannot make the placement table"));
}
