#include "html_check.h"
#include "target.h"

#include "reports/json/system_history.h"
#include "reports/text/system_history.h"

namespace plumb::fuzz {

void run_system_history(Bytes input) {
    const auto entry = parse_history_line(as_text(input));
    if (!entry)
        return;
    require(entry->end_unix_ns > entry->begin_unix_ns);
    require(is_harmless_text(history_entry_text(*entry, "", {}), true));
    require(is_harmless_text(history_text({*entry}, 1, {}), true));
}

Seeds seeds_of_system_history() {
    return {{"whole", R"({"schema":"plumb-system-history/1","begin_unix_seconds":1768660200.5,"end_unix_seconds":1768660800.5,"host":"h",)"
                      R"("system":{"seconds":600,"time":{"user_seconds":100,"kernel_seconds":200,"interrupt_seconds":1,"steal_seconds":2,)"
                      R"("idle_seconds":897},"is_sampled":true,"kernel_sampled_seconds":190,"waiting_threads":0.5,"switches_per_second":300,)"
                      R"("cpus":[{"cpu":0,"user_seconds":100}],"programs":[{"name":"dd","is_kernel":false,"processes":1,"pid":7,)"
                      R"("user_seconds":1,"kernel_seconds":199,"waiting_seconds":3,"switches":9,"kernel_routine":"read_zero"}],)"
                      R"("kernel_routines":[{"name":"read_zero","seconds":190,"program":"dd","program_seconds":189}],)"
                      R"("interrupts":[{"name":"LOC","per_second":250}],"memory":[{"node":0,"total_bytes":1e9,"free_bytes":1e8}]},)"
                      R"("findings":[{"id":"kernel-time","severity":"high","title":"dd \u001b[1m","gain_fraction":0.5}]})"},
            {"odd", R"({"schema":"plumb-system-history/1","begin_unix_seconds":1,"end_unix_seconds":2,"system":{"cpus":[1,null]}})"}};
}

} // namespace plumb::fuzz
