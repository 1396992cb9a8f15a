// Where a library, not the program, does the work: for information, and with a cure where a faster drop-in is known.
#include "analyses/lines/launch_command.h"
#include "analyses/lines/line_shares.h"
#include "analyses/time/allocator_code.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/registry.h"
#include "support/exchangeable_libraries.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace plumb {

namespace {

constexpr double kLeastShare = 0.25; // of the CPU time: smaller parts are in the report's table of libraries
constexpr uint64_t kLeastSamples = 100;
constexpr size_t kMostCalled = 5;
constexpr const char* kNameless = "functions without a name";
constexpr double kLeastShareConfidence = 0.9;

// Libraries with drop-in replacements that are several times as fast, recognised by the path of their file.
struct Cure {
    const char* path_part;
    const char *what, *how, *preload;
};
const Cure kCures[] = {
    {"/blas/libblas.so", "Use an optimised BLAS",
     "this is the reference BLAS, written as plain loops; OpenBLAS, BLIS and MKL have the same interface (Debian: "
     "update-alternatives --config libblas.so.3-x86_64-linux-gnu)", "libopenblas.so.0"},
    {"/lapack/liblapack.so", "Use an optimised LAPACK",
     "this is the reference LAPACK; OpenBLAS and MKL contain a faster one with the same interface", "libopenblas.so.0"},
};

// Functions of which no line is known come as "dgemm_+0x24".
std::string_view without_offset(std::string_view function) { return function.substr(0, function.find("+0x")); }

// Routines of BLAS level 3 (Dongarra et al., "A Set of Level 3 Basic Linear Algebra Subprograms", 1990): they do many operations
// on each number that they load, so that vector instructions decide their speed. The reference is compiled for any x86-64:
// 16 bytes at a time, where the optimised ones take 32 or 64. Twice as fast is then a lower bound. What levels 1 and 2 gain,
// which wait for memory, is not known.
bool is_blas_level_3(std::string_view function) {
    function = without_offset(function);
    while (function.ends_with('_'))
        function.remove_suffix(1);
    if (function.size() < 5 || std::string_view("sdczSDCZ").find(function[0]) == std::string_view::npos)
        return false;
    for (std::string_view name : {"gemm", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm"})
        if (function.substr(1) == name)
            return true;
    return false;
}
constexpr double kLeastSaving = 0.5; // of the time in level 3

struct LibraryTime {
    std::string path;
    uint64_t hits = 0;
    uint64_t level_3_hits = 0; // of them, where the library is BLAS or LAPACK
    std::map<std::string, uint64_t> called; // of them, by the function through which it was entered
    LineShares lines;
};

// Its functions that were called, by time, the most first.
std::vector<std::pair<std::string, uint64_t>> calls_by_time(const LibraryTime& library) {
    std::vector<std::pair<std::string, uint64_t>> calls(library.called.begin(), library.called.end());
    std::ranges::stable_sort(calls, std::greater<>(), &std::pair<std::string, uint64_t>::second);
    return calls;
}

class LibraryTimeDiagnosis : public Diagnosis {
  public:
    const char* id() const override { return "library-time"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        uint64_t samples = 0;
        std::map<std::string, LibraryTime> libraries;
        AllocatorCode allocator(input.paths);
        const std::vector<model::Process>& processes = input.run.processes;
        for (size_t process = 0; process < processes.size(); process++)
            for (const model::SampleSite& site : processes[process].samples) {
                samples += site.samples;
                add(input.paths, allocator, process, site, libraries);
            }
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings;
        if (samples < kLeastSamples || totals.wall_s <= 0)
            return findings;
        for (const auto& [name, library] : libraries)
            if (confidence_above(library.hits, samples, kLeastShare) >= kLeastShareConfidence)
                findings.push_back(finding_of(input, totals, name, library, samples));
        return findings;
    }

  private:
    // Time in user mode with the instruction in a shared object that is not the program, nor in an
    // allocator (heap-bound tells that).
    static void add(model::CallPaths& paths, AllocatorCode& allocator, size_t process,
                    const model::SampleSite& site, std::map<std::string, LibraryTime>& libraries) {
        const uint64_t user_hits = site.samples - std::min(site.kernel_samples, site.samples);
        const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
        if (user_hits == 0 || site.path >= nodes.size() || nodes[site.path].kernel)
            return;
        const model::Module* module = paths.module_of(process, nodes[site.path].address);
        if (!module || module->kind != model::Module::Kind::library)
            return;
        if (allocator.contains(process, site.path))
            return;
        const size_t slash = module->path.rfind('/');
        LibraryTime& library =
            libraries[slash == std::string::npos ? module->path : module->path.substr(slash + 1)];
        library.path = module->path;
        library.hits += user_hits;
        for (uint32_t node = site.path; node != 0 && node < nodes.size(); node = nodes[node].parent)
            if (is_blas_level_3(paths.frames_of(process, node).back().function)) {
                library.level_3_hits += user_hits;
                break;
            }
        const model::SourceFrame& entry = paths.frames_of(process, entry_of(paths, process, site.path, *module)).back();
        const bool has_name = !entry.function.empty() && !entry.function.starts_with(entry.module + "+0x");
        library.called[has_name ? std::string(without_offset(entry.function)) : kNameless] += user_hits;
        library.lines.add(paths.user_frame(process, site.path), static_cast<double>(user_hits));
    }

    // The outermost frame of the library before that of another module.
    static uint32_t entry_of(model::CallPaths& paths, size_t process, uint32_t leaf, const model::Module& module) {
        const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
        uint32_t entry = leaf;
        for (uint32_t node = nodes[leaf].parent; node != 0 && node < nodes.size(); node = nodes[node].parent) {
            if (const model::Module* const other = paths.module_of(process, nodes[node].address); !other || other->path != module.path)
                break;
            entry = node;
        }
        return entry;
    }

    static std::string call_words(const LibraryTime& library) {
        const auto calls = calls_by_time(library);
        return fmt::format("{:.0f} % of its time is in calls of {}{}",
                           100 * static_cast<double>(calls[0].second) / static_cast<double>(library.hits), calls[0].first,
                           calls.size() > 1 ? fmt::format(", {:.0f} % in those of {}",
                                                          100 * static_cast<double>(calls[1].second) / static_cast<double>(library.hits),
                                                          calls[1].first)
                                            : "");
    }

    Finding finding_of(const DiagnosisInput& input, const RunTotals& totals, const std::string& name,
                       const LibraryTime& library, uint64_t samples) const {
        const double share = static_cast<double>(library.hits) / static_cast<double>(samples);
        Finding finding;
        finding.id = id();
        finding.confidence = confidence_above(library.hits, samples, kLeastShare);
        finding.cost.seconds = totals.wall_of_share(share);
        finding.cost.fraction = finding.cost.seconds / totals.wall_s;
        finding.cost.how = "measured";
        finding.where = library.lines.heaviest(5);
        finding.title = fmt::format("{} takes {:.0f} % of the CPU time", name, 100 * share);
        finding.gain = {0, "this is where the time goes, not a loss; the time that another library would take is not known"};
        finding.subject.kind = "library";
        finding.subject.name = name;
        finding.subject.details["path"] = library.path;
        finding.evidence["library_fraction"] = share;
        finding.evidence["library_error_fraction"] = share_error(library.hits, samples);
        finding.evidence["sample_count"] = static_cast<int64_t>(library.hits);
        std::vector<std::string> called;
        for (const auto& [function, hits] : calls_by_time(library))
            if (called.size() < kMostCalled)
                called.push_back(function);
        finding.evidence["called_functions"] = called;
        for (const Cure& cure : kCures)
            if (library.path.find(cure.path_part) != std::string::npos) {
                const double level_3 = static_cast<double>(library.level_3_hits) / static_cast<double>(library.hits);
                finding.gain = {kLeastSaving * finding.cost.fraction,
                                "not measured here: optimised versions use vectors at least twice as wide, which halves the time of "
                                "BLAS level 3; of levels 1 and 2 nothing is known for certain",
                                kLeastSaving * finding.cost.fraction * level_3};
                finding.fixed_severity = std::min(Severity::medium, severity_of(finding.gain, totals.wall_s));
                finding.evidence["blas_level_3_fraction"] = level_3;
                finding.advice.push_back({cure.what, cure.how, "launch",
                    input.run.command.empty()
                        ? std::string()
                        : fmt::format("LD_PRELOAD={} plumb run -- {}", cure.preload, shell_line(input.run.command))});
            }
        if (finding.advice.empty())
            finding.advice.push_back({"Check who calls it, and how",
                call_words(library) + "; fewer or larger calls, another library for the same task, or faster build options may help",
                "code", ""});
        if (const ExchangeableLibrary* const known = exchangeable_library(name))
            finding.advice.push_back({fmt::format("Try another {}", known->what),
                "runs the program in turns with each other build of this interface that is installed here, and compares times and output",
                "launch", input.run.command.empty() ? std::string()
                                                    : fmt::format("plumb try --cure {} -- {}", known->id, shell_line(input.run.command))});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_library_time() { return std::make_unique<LibraryTimeDiagnosis>(); }

} // namespace plumb
