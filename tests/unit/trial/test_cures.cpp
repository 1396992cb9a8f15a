// Which cures apply where, from plain facts; what they change; which exclude each other.
#include "trial/cure.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace plumb::trial;

namespace {

// A machine and a program for which nearly every cure applies.
Facts all_there() {
    Facts facts;
    facts.cpus = 8;
    facts.cores = 4;
    facts.memory_nodes = 2;
    facts.huge_pages = "madvise";
    facts.has_numactl = true;
    facts.has_openmp = true;
    facts.mpi = Mpi::open_mpi;
    facts.ranks = 2;
    facts.threads = 2;
    facts.processes = 2;
    facts.loaded = {"libc.so.6", "libblas.so.3"};
    facts.installed = {{"libjemalloc.so.2", "/lib/libjemalloc.so.2"},
                       {"libtcmalloc.so.4", "/lib/libtcmalloc.so.4"},
                       {"libopenblas.so.0", "/o"}};
    facts.others = {{"libblas.so.3", "/lib/atlas/libblas.so.3"}};
    return facts;
}

Cure cure_of(const Facts& facts, const std::string& id) {
    const std::vector<Cure> cures = all_cures(facts);
    const auto found = std::ranges::find(cures, id, &Cure::id);
    REQUIRE(found != cures.end());
    return *found;
}

std::string why_not(const Facts& facts, const std::string& id) {
    return cure_of(facts, id).why_not;
}

} // namespace

TEST_CASE("ids are unique and every cure that applies changes something") {
    for (const Facts& facts : {Facts{}, all_there()}) {
        std::set<std::string> ids;
        for (const Cure& cure : all_cures(facts)) {
            INFO(cure.id);
            CHECK(ids.insert(cure.id).second);
            CHECK_FALSE(cure.what.empty());
            CHECK_FALSE(cure.family.empty());
            const Launch launch = launch_with({cure.change}, {}, {"app"});
            if (cure.why_not.empty())
                CHECK((!launch.environment.empty() || launch.words.size() > 1));
        }
    }
}

TEST_CASE("cures apply only where their means are") {
    const Facts facts = all_there();
    for (const char* id :
         {"pin-scatter", "pin-compact", "pin-cores", "pin-bind", "interleave", "jemalloc", "tcmalloc", "keep-memory",
          "huge-pages", "omp-all-cpus", "omp-half", "omp-passive", "omp-spread", "mpi-bind", "mpi-eager", "blas", "blas-2"}) {
        INFO(id);
        CHECK(why_not(facts, id) == "");
    }
    CHECK(why_not(facts, "mimalloc") == "libmimalloc.so.2 is not installed");
    CHECK(why_not(facts, "no-huge-pages") != "");
    CHECK(why_not(facts, "lapack") == "the program does not load liblapack.so.3");

    Facts one_node = facts;
    one_node.memory_nodes = 1;
    one_node.has_numactl = false;
    CHECK(why_not(one_node, "pin-bind") == "all memory is on one NUMA node");
    CHECK(why_not(one_node, "interleave") == "all memory is on one NUMA node");
    one_node.memory_nodes = 2;
    CHECK(why_not(one_node, "interleave") == "numactl is not installed");

    Facts is_static = facts;
    is_static.why_no_preload = "the program is linked statically";
    is_static.is_dynamic = false;
    for (const char* id : {"jemalloc", "tcmalloc", "pin-scatter", "blas", "keep-memory"}) {
        INFO(id);
        CHECK(why_not(is_static, id) != "");
    }
    CHECK(why_not(is_static, "omp-passive") == ""); // the environment reaches it all the same

    Facts other_malloc = facts;
    other_malloc.has_glibc_malloc = false;
    CHECK(why_not(other_malloc, "jemalloc") == "the program has another allocator already");
    CHECK(why_not(other_malloc, "huge-pages") != "");

    Facts always = facts;
    always.huge_pages = "always";
    CHECK(why_not(always, "huge-pages") != "");
    CHECK(why_not(always, "no-huge-pages") == "");

    Facts alone;
    alone.cpus = 2;
    CHECK(why_not(alone, "pin-scatter") == "it is one thread: there is nothing to spread");
    alone.cpus = 1;
    CHECK(why_not(alone, "pin-scatter") == "the command may use one CPU only");
    CHECK(why_not(alone, "omp-half") == "the program does not use OpenMP");
    CHECK(why_not(alone, "mpi-bind") == "the program does not use MPI");
}

TEST_CASE("OpenMP threads are counted for each rank, and what is set already is no cure") {
    Facts facts = all_there();
    CHECK(cure_of(facts, "omp-all-cpus").change.settings.front().second == "4"); // 8 CPUs, 2 ranks
    CHECK(cure_of(facts, "omp-half").change.settings.front().second == "2");
    facts.threads = 4;
    CHECK(why_not(facts, "omp-all-cpus") == "it has that many threads already");
    facts.environment["OMP_WAIT_POLICY"] = "passive";
    CHECK(why_not(facts, "omp-passive") == "OMP_WAIT_POLICY=passive is set already");
    CHECK(why_not(facts, "omp-active") == "");
    facts.environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1";
    CHECK(why_not(facts, "huge-pages") == "glibc.malloc.hugetlb is set already");
    CHECK(why_not(facts, "keep-memory") == "");
    facts.ranks = 16;
    CHECK(why_not(facts, "mpi-bind") == "there are more ranks than cores");
}

TEST_CASE("each MPI library has variables of its own") {
    Facts facts = all_there();
    CHECK(cure_of(facts, "mpi-bind").change.settings.front().first == "OMPI_MCA_hwloc_base_binding_policy");
    facts.mpi = Mpi::mpich;
    CHECK(cure_of(facts, "mpi-bind").change.settings.front().first == "HYDRA_BINDING");
}

TEST_CASE("figures of the run speak for cures that no finding advises") {
    Facts facts = all_there();
    CHECK(cure_of(facts, "jemalloc").why_tried.empty());
    facts.allocator_fraction = 0.2;
    facts.page_fault_fraction = 0.1;
    facts.spinning_fraction = 0.3;
    CHECK(cure_of(facts, "jemalloc").why_tried == "20 % of the time is in the allocator");
    CHECK(cure_of(facts, "keep-memory").why_tried == "10 % of the time is page faults");
    CHECK(cure_of(facts, "omp-passive").why_tried == "30 % of the time is spinning");
    CHECK(cure_of(facts, "blas").why_tried.empty());
    facts.library_fractions["libblas.so.3"] = 0.25;
    CHECK(cure_of(facts, "blas").why_tried == "25 % of the CPU time is in libblas.so.3");
    facts.huge_page_fraction = 0.1;
    CHECK(cure_of(facts, "no-huge-pages").why_tried.empty());
    facts.huge_page_fraction = 0.6;
    CHECK(cure_of(facts, "no-huge-pages").why_tried == "60 % of the memory is on huge pages");
    CHECK(why_not(facts, "no-huge-pages") == ""); // it asked for them
}

TEST_CASE("cures of a family, and those that take away what others need, exclude each other") {
    const Facts facts = all_there();
    const Cure scatter = cure_of(facts, "pin-scatter"), spread = cure_of(facts, "omp-spread"),
               jemalloc = cure_of(facts, "jemalloc"), keep = cure_of(facts, "keep-memory"), huge = cure_of(facts, "huge-pages");
    CHECK(exclude_each_other(scatter, spread)); // both place threads
    CHECK(exclude_each_other(jemalloc, cure_of(facts, "tcmalloc")));
    CHECK(exclude_each_other(jemalloc, keep));
    CHECK(exclude_each_other(huge, jemalloc));
    CHECK_FALSE(exclude_each_other(keep, huge));
    CHECK_FALSE(exclude_each_other(scatter, jemalloc));
}

TEST_CASE("changes add to what the environment has, and to one another") {
    const Facts facts = all_there();
    const Launch launch =
        launch_with({cure_of(facts, "pin-scatter").change, cure_of(facts, "keep-memory").change,
                     cure_of(facts, "huge-pages").change, cure_of(facts, "blas").change},
                    {{"LD_PRELOAD", "/own.so"}, {"GLIBC_TUNABLES", "glibc.malloc.perturb=1"}}, {"./my app", "1"});
    CHECK(launch.environment ==
          std::vector<std::string>{"GLIBC_TUNABLES=glibc.malloc.perturb=1:glibc.malloc.mmap_threshold=1073741824:"
                                   "glibc.malloc.trim_threshold=4294967296:glibc.malloc.hugetlb=1",
                                   "LD_PRELOAD=/lib/atlas/libblas.so.3:/own.so"});
    CHECK(launch.words == std::vector<std::string>{"plumb", "pin", "-q", "--scatter", "--", "./my app", "1"});
    CHECK(launch_line({{"A=b c"}, {"x", "y z"}}) == "A='b c' x 'y z'");
    CHECK(launch_line(launch_with({}, {{"LD_PRELOAD", "/own.so"}}, {"x"})) == "x"); // what is set already needs no word
}
