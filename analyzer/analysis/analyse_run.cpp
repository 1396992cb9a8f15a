#include "analysis/analyse_run.h"
#include "analysis/build_report.h"
#include "analysis/cycle_expectation.h"
#include "analysis/machine_report.h"
#include "analysis/redact_report.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <optional>

namespace plumb {

namespace {

constexpr size_t kSymbolNoteLimit = 5;
constexpr size_t kMostTreeNodes = 1500; // some 90 KB of a page

// Files whose lines could not be had, or not be trusted.
void add_symbol_evidence(Report& report, const std::vector<std::string>& notes) {
    for (size_t index = 0; index < notes.size() && index < kSymbolNoteLimit; index++)
        report.evidence.push_back({"symbols", model::Evidence::State::limited, notes[index], ""});
    if (notes.size() > kSymbolNoteLimit)
        report.evidence.push_back({"symbols", model::Evidence::State::limited,
                                   fmt::format("{} more files like these", notes.size() - kSymbolNoteLimit),
                                   ""});
}

// Leaves only lines of source files that match `glob` as a whole or by their last component.
void keep_only_file(Report& report, const std::string& glob) {
    std::erase_if(report.accesses, [&](const AccessLine& line) {
        const std::string& file = line.frame.file;
        return fnmatch(glob.c_str(), file.c_str(), 0) != 0 &&
               fnmatch(glob.c_str(), file.substr(file.rfind('/') + 1).c_str(), 0) != 0;
    });
}

} // namespace

AnalysedRun analyse_run(const std::string& directory, const AnalysisOptions& options) {
    std::optional<CycleModel> model; // read first: an error in it is said at once
    if (!options.model_file.empty())
        model = CycleModel::read(options.model_file);
    AnalysedRun analysed{open_run(directory, options), {}};
    OpenedRun& opened = *analysed.opened;
    model::CallPaths paths = opened.paths();
    analysed.report = opened.run.of_machine ? build_machine_report(paths, *opened.resolver, options.only)
                                            : build_report(paths, diagnosis_registry(), options.only, options.every_line);
    if (model)
        compare_with_model(*model, analysed.report);
    if (options.call_tree)
        analysed.report.call_tree = call_tree_of(paths, analysed.report.account, kMostTreeNodes);
    add_symbol_evidence(analysed.report, opened.resolver->notes());
    if (!options.only_file.empty())
        keep_only_file(analysed.report, options.only_file);
    if (opened.redact)
        redact_report(analysed.report, opened.run, {directory, options.sysroot}); // quotes no source lines, either
    else
        analysed.report.may_show_source = [resolver = opened.resolver.get()](const std::string& file) {
            return resolver->may_show(file);
        };
    return analysed;
}

} // namespace plumb
