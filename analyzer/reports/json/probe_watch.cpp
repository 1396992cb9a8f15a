#include "reports/json/probe_watch.h"

#include <nlohmann/json.hpp>

namespace plumb {

std::string probe_watch_json(const probe::Watched& watched) {
    using nlohmann::ordered_json;
    ordered_json looks = ordered_json::array(), suspects = ordered_json::array();
    for (const probe::Look& look : watched.looks)
        looks.push_back({{"begin_seconds", look.begin_s},
                         {"slowness", look.slowness},
                         {"programs", look.programs},
                         {"groups", look.groups}});
    for (const probe::Suspect& suspect : watched.suspects.suspects)
        suspects.push_back({{"name", suspect.name}, {"is_group", suspect.is_group}, {"kind", suspect.kind},
                            {"rank_correlation", suspect.correlation}, {"chance", suspect.chance}, {"cpus", suspect.cpus},
                            {"slowdown", suspect.slowdown},
                            {"verdict", suspect.verdict == probe::Suspect::Verdict::slows ? "slows" : "cannot tell"}});
    const ordered_json document{{"schema", "plumb-probe-watch/1"},
                                {"host", watched.machine.host},
                                {"begin_seconds", watched.begin_s},
                                {"took_seconds", watched.took_s},
                                {"every_seconds", watched.every_s},
                                {"look_seconds", watched.look_s},
                                {"ended_early", watched.ended_early},
                                {"comparisons", watched.suspects.comparisons},
                                {"needed_chance", watched.suspects.needed_chance},
                                {"suspects", suspects},
                                {"looks", looks}};
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
