#include "commands/series_reports.h"

#include "reports/complain.h"
#include "support/error.h"

#include <fmt/format.h>
#include <optional>
#include <vector>

namespace plumb {

void for_each_report(repeat::SeriesResult& result, const AnalysisOptions& options,
                     const std::function<void(const repeat::SeriesRun&, const Report&)>& take) {
    std::erase_if(result.runs, [&](const repeat::SeriesRun& run) {
        std::optional<AnalysedRun> analysed;
        try {
            analysed.emplace(analyse_run(run.directory, options));
        } catch (const Error& error) {
            complain(fmt::format("{} does not count: {}", run.directory, error.what()));
            return true;
        }
        take(run, analysed->report);
        return false;
    });
}

} // namespace plumb
