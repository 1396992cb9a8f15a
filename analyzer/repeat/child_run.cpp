#include "repeat/child_run.h"

#include "repeat/process.h"
#include "trace/file/run_json.h"

#include <optional>

namespace plumb::repeat {

namespace {

bool is_finished(const std::string& directory) {
    std::string problem;
    const std::optional<trace::RunFacts> facts = trace::read_run_json(directory + "/run.json", problem);
    return facts && facts->finished;
}

} // namespace

ChildResult record_child(const ChildRun& run) {
    std::vector<std::string> words{"plumb", "run", "--no-report", "-o", run.directory};
    words.insert(words.end(), run.options.begin(), run.options.end());
    words.emplace_back("--");
    words.insert(words.end(), run.command.begin(), run.command.end());
    const ProcessResult result = run_process({words, kPlumbItself, run.environment, run.output, run.errors});
    return {result.exit_status, is_finished(run.directory)};
}

} // namespace plumb::repeat
