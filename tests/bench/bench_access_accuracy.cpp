// bench-access-accuracy ACCESS_KERNELS: of time samples in loops over known arrays, how many tell an address in one of them;
// and, of loops that wait for one of their four loads, how many name that one. The loops are programs of their own, sampled
// as plumb samples them; where their code and their arrays are, they say themselves.
#include "record/access/sampling/access_sampling.h"
#include "record/perf/sampler.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr const char* kMilliseconds = "1500";
constexpr size_t kFewest = 200; // samples: fewer tell no share of some percent

struct Truth {
    uint64_t code_begin = 0, code_end = 0;
    std::map<std::string, std::pair<uint64_t, uint64_t>> arrays;
};

Truth read_truth(const std::string& path) {
    Truth truth;
    std::ifstream lines(path);
    for (std::string line, kind; std::getline(lines, line);) {
        std::istringstream words(line);
        words >> kind;
        if (kind == "code") {
            words >> std::hex >> truth.code_begin >> truth.code_end;
        } else if (kind == "array") {
            std::string name;
            uint64_t start = 0, bytes = 0;
            words >> name >> std::hex >> start >> std::dec >> bytes;
            truth.arrays[name] = {start, start + bytes};
        }
    }
    return truth;
}

struct Sampled {
    size_t in_loop = 0; // samples of the loops' code
    std::vector<SampledAccess> told;
    Truth truth;
    std::string problem;
};

Sampled sample(const char* program, const char* kernel, const char* option, const std::string& folder) {
    Sampled sampled;
    int go[2];
    if (pipe(go) != 0)
        return sampled;
    const std::string output = folder + "/output";
    std::fflush(stdout); // or the child would say it again
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1 || !std::freopen(output.c_str(), "w", stdout))
            _exit(125);
        execl(program, program, kernel, kMilliseconds, option, nullptr);
        _exit(127);
    }
    close(go[0]);
    Options options;
    options.rate_hz = 997;
    options.budget_percent = 100;
    options.call_graph = CallGraph::none;
    Sampler sampler(child, options, 1);
    const std::string record = folder + "/node.plumb";
    std::filesystem::remove(record);
    NodeTraceWriter file(record, 16u << 20, 1u << 30);
    ProcessTable processes(file, 16u << 20);
    unwind::StackUnwinder images;
    constexpr double kNewCodeShare = 0.02 * 0.2; // as `plumb run` has it by default
    AccessSampling accesses(file, processes, images, 1u << 20, kNewCodeShare);
    sampled.problem = !sampler.works() ? sampler.why() : accesses.why();
    processes.launch(static_cast<uint32_t>(child), static_cast<uint32_t>(getpid()), program);
    std::vector<std::pair<uint64_t, std::optional<SampledAccess>>> all; // by sampled instruction
    const auto take = [&](const PerfRecord& record) {
        processes.take(record);
        if (record.kind == PerfKind::sample && !record.in_kernel)
            all.emplace_back(record.address, accesses.take(record, 1));
    };
    const ssize_t started = write(go[1], "x", 1);
    close(go[1]);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        sampler.drain(take, false);
        usleep(20'000);
    }
    sampler.drain(take, true);
    if (started != 1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        sampled.problem = "the program failed";
    sampled.truth = read_truth(output);
    for (auto& [address, access] : all) {
        if (address < sampled.truth.code_begin || address >= sampled.truth.code_end)
            continue;
        ++sampled.in_loop;
        if (access)
            sampled.told.push_back(*access);
    }
    return sampled;
}

// Of the samples in the loop, those whose address lies in one of these arrays; -1: too few.
double share_in(const Sampled& sampled, const std::string& arrays_of_one_letter, const char* whole_name = "") {
    if (sampled.in_loop < kFewest)
        return -1;
    const size_t right = static_cast<size_t>(std::ranges::count_if(sampled.told, [&](const SampledAccess& access) {
        return std::ranges::any_of(sampled.truth.arrays, [&](const auto& array) {
            const bool wanted = array.first == whole_name ||
                                (array.first.size() == 1 && arrays_of_one_letter.find(array.first) != std::string::npos);
            return wanted && access.address >= array.second.first && access.address < array.second.second;
        });
    }));
    return static_cast<double>(right) / static_cast<double>(sampled.in_loop);
}

void print(const char* what, const Sampled& sampled, double share, double wanted) {
    if (share < 0)
        std::printf("%-28s %zu samples: too few%s%s\n", what, sampled.in_loop, sampled.problem.empty() ? "" : ", ",
                    sampled.problem.c_str());
    else
        std::printf("%-28s %5.1f %% of %zu samples (wanted: %.0f %%)%s\n", what, 100 * share, sampled.in_loop, 100 * wanted,
                    share < wanted ? "  MISSED" : "");
}

} // namespace

int main(int count, char** arguments) {
    std::string folder = (std::filesystem::temp_directory_path() / "plumb-bench-XXXXXX").string();
    if (count != 2 || !mkdtemp(folder.data()))
        return 2;
    const struct {
        const char* kernel;
        const char* arrays;
        const char* name;
    } kernels[] = {{"triad", "abc", ""}, {"stencil", "ab", ""}, {"chase", "", "nodes"}, {"column_walk", "a", ""},
                   {"histogram", "a", "values"}};
    std::puts("the object is right:");
    for (const auto& one : kernels) {
        const Sampled sampled = sample(arguments[1], one.kernel, "0", folder);
        print(one.kernel, sampled, share_in(sampled, one.arrays, one.name), 0.95);
    }
    std::puts("of four loads, the one that is waited for:");
    for (const char* slow : {"0", "1", "2", "3"}) {
        const Sampled sampled = sample(arguments[1], "loads", slow, folder);
        print((std::string("load ") + slow).c_str(), sampled, share_in(sampled, "S"), 0.8);
    }
    std::filesystem::remove_all(folder);
    return 0;
}
