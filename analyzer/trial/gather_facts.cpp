#include "trial/gather_facts.h"

#include "platform/cpuset.h"
#include "platform/huge_pages.h"
#include "platform/library_cache.h"
#include "platform/numa_nodes.h"
#include "platform/topology.h"
#include "support/error.h"
#include "support/exchangeable_libraries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <unistd.h>
#include <utility>

namespace plumb::trial {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 7> kPreloaded{"libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
                                                "libmimalloc.so.2", "libmimalloc.so.3",         "libopenblas.so.0",
                                                "libmkl_rt.so.2"};
bool is_installed_for_cures(const std::string& name) {
    return exchangeable_library(name) || std::ranges::any_of(kPreloaded, [&](const char* each) { return name == each; });
}

constexpr std::array<const char*, 9> kVariables{"LD_PRELOAD",
                                                "GLIBC_TUNABLES",
                                                "OMP_NUM_THREADS",
                                                "OMP_WAIT_POLICY",
                                                "OMP_PROC_BIND",
                                                "OMPI_MCA_hwloc_base_binding_policy",
                                                "OMPI_MCA_btl_vader_eager_limit",
                                                "HYDRA_BINDING",
                                                "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"};
constexpr double kComputes = 0.02; // of the run's CPU time: less is a launcher or a shell
constexpr uint64_t kLeastResidentBytes = 8u << 20; // the size of its pages matters to no less

uint64_t run_ns_of(const model::Process& process) {
    uint64_t sum = 0;
    for (const model::Thread& thread : process.threads)
        sum += thread.run_ns;
    return sum;
}

std::string why_no_preload(const model::Process& process) {
    if (process.is_static)
        return "the program is linked statically";
    if (process.is_foreign)
        return "the program is of another architecture";
    return process.is_privileged ? "the program is set-user-id" : "";
}

void add_machine(Facts& facts) {
    const std::vector<int> allowed = platform::allowed_cpus("/", platform::affinity_mask());
    facts.cpus = facts.cores = std::max<size_t>(1, allowed.size());
    try {
        const platform::Topology topology = platform::live_topology();
        std::set<std::pair<int, int>> cores; // by package
        for (const int cpu : allowed)
            if (const platform::CpuPlace* place = topology.find(cpu))
                cores.insert({place->package, place->core});
        if (!cores.empty())
            facts.cores = cores.size();
    } catch (const Error&) {
    } // then each CPU counts as a core
    facts.memory_nodes = std::max<size_t>(1, platform::memory_node_count(platform::read_numa_nodes("/sys")));
    facts.huge_pages = platform::read_huge_page_settings("").enabled;
    for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"})
        facts.has_numactl = facts.has_numactl || access((std::string(folder) + "numactl").c_str(), X_OK) == 0;
    for (const char* name : kVariables)
        if (const char* value = std::getenv(name))
            facts.environment[name] = value;
    for (const platform::CachedLibrary& library : platform::read_library_cache(""))
        if (is_installed_for_cures(library.name) &&
            std::ranges::none_of(facts.installed, [&](const Library& known) { return known.name == library.name; }) &&
            access(library.path.c_str(), R_OK) == 0)
            facts.installed.push_back({library.name, library.path});
}

// Distributions keep builds of one interface in folders side by side: LIBRARIES/*/libblas.so.3. A program may bring its own, beside
// which the distribution's is another.
void add_others(Facts& facts, const std::string& loaded_path, const std::string& name) {
    std::error_code failure;
    std::set<std::string> seen{fs::weakly_canonical(loaded_path, failure).string()};
    const auto add_if_new = [&](const fs::path& candidate) {
        std::error_code none;
        if (fs::is_regular_file(candidate, none) && seen.insert(fs::weakly_canonical(candidate, none).string()).second)
            facts.others.push_back({name, candidate.string()});
    };
    for (const fs::path& folder : {fs::path(loaded_path).parent_path(), fs::path(loaded_path).parent_path().parent_path()})
        for (fs::directory_iterator one(folder, failure), end; !failure && one != end; one.increment(failure))
            add_if_new(one->path() / name);
    for (const Library& library : facts.installed)
        if (library.name == name)
            add_if_new(library.path);
}

void add_libraries(Facts& facts, const model::Process& process) {
    for (const model::Module& module : process.modules) {
        if (module.kind != model::Module::Kind::library)
            continue;
        const std::string name = library_name(module.path);
        if (std::ranges::find(facts.loaded, name) != facts.loaded.end())
            continue;
        facts.loaded.push_back(name);
        if (name.starts_with("libjemalloc") || name.starts_with("libtcmalloc") || name.starts_with("libmimalloc"))
            facts.has_glibc_malloc = false;
        if (name.starts_with("libgomp.") || name.starts_with("libiomp5") || name.starts_with("libomp."))
            facts.has_openmp = true;
        if (name.starts_with("libmpich") && facts.mpi == Mpi::none)
            facts.mpi = Mpi::mpich;
        if (name == "libmpi.so.40" && facts.mpi == Mpi::none)
            facts.mpi = Mpi::open_mpi;
        if (exchangeable_library(name))
            add_others(facts, module.path, name);
    }
}

void add_program(Facts& facts, const model::Run& run) {
    uint64_t all_ns = 0, most_ns = 0;
    for (const model::Process& process : run.processes)
        all_ns += run_ns_of(process);
    facts.processes = 0;
    for (const model::Process& process : run.processes) {
        const uint64_t own_ns = run_ns_of(process);
        if (static_cast<double>(own_ns) < kComputes * static_cast<double>(all_ns))
            continue;
        facts.processes++;
        const auto computing = std::ranges::count_if(process.threads, [&](const model::Thread& thread) {
            return static_cast<double>(thread.run_ns) >= kComputes * static_cast<double>(own_ns);
        });
        facts.threads = std::max(facts.threads, static_cast<size_t>(computing));
        facts.ranks = std::max(facts.ranks, static_cast<size_t>(std::max(0, process.rank_count)));
        facts.has_openmp = facts.has_openmp || process.openmp;
        if (process.mpi)
            facts.mpi = process.mpi->library == model::MpiProcess::Library::open_mpi ? Mpi::open_mpi
                        : process.mpi->library == model::MpiProcess::Library::mpich  ? Mpi::mpich
                                                                                     : facts.mpi;
        if (own_ns > most_ns) {
            most_ns = own_ns;
            facts.why_no_preload = why_no_preload(process);
            facts.is_dynamic = !process.is_static;
            const model::MemoryLayout& layout = process.memory.layout;
            facts.huge_page_fraction = layout.resident_bytes >= kLeastResidentBytes
                                           ? static_cast<double>(layout.huge_bytes) / static_cast<double>(layout.resident_bytes)
                                           : 0;
        }
        add_libraries(facts, process);
    }
}

} // namespace

std::string library_name(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    const size_t ending = name.find(".so.");
    if (ending == std::string::npos)
        return name;
    size_t end = ending + 4;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])))
        ++end;
    return name.substr(0, end);
}

Facts gather_facts(const Report& report) {
    Facts facts;
    add_machine(facts);
    add_program(facts, *report.run);
    if (const double own_s = report.account.own_s(); own_s > 0) {
        facts.allocator_fraction = report.account.seconds_of(TimeClass::allocator) / own_s;
        facts.spinning_fraction =
            (report.account.seconds_of(TimeClass::spinning) + report.account.seconds_of(TimeClass::team)) / own_s;
        for (const AccountLine& line : report.account.lines)
            if (line.kind == TimeClass::kernel && line.detail == "page faults")
                facts.page_fault_fraction += line.seconds / own_s;
    }
    for (const LibraryShare& library : report.libraries)
        facts.library_fractions[library_name(library.module)] += library.fraction;
    return facts;
}

} // namespace plumb::trial
