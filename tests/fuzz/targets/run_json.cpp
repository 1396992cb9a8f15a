#include "target.h"

#include "support/error.h"
#include "trace/file/run_json.h"

namespace plumb::fuzz {

void run_run_json(Bytes input) {
    std::string problem;
    try {
        const auto facts = trace::parse_run_json(std::string(as_text(input)), "run.json", problem);
        require(facts.has_value() == problem.empty());
    } catch (const Error&) { // of a newer version
    }
}

Seeds seeds_of_run_json() {
    return {{"finished", R"({"schema":"plumb-run/1","state":"finished","command":["a","b"],"host":"h","begin_ns":1,)"
                         R"("end_ns":2,"start_unix_ns":3,"plumb_version":"0.1.0","exit_status":0,"redacted":true,"options":{}})"},
            {"newer", R"({"schema":"plumb-run/2"})"},
            {"odd", R"({"schema":"plumb-run/1","command":[1,null,{"a":[]}],"exit_status":-1e400,"host":"\ud800\u0000"})"}};
}

} // namespace plumb::fuzz
