#include "reports/json/kernel_log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;

ordered_json group_json(const kernel_log::PlacedGroup& placed) {
    const kernel_log::Message& message = placed.group.first;
    ordered_json entry{{"kind", kernel_log::kind_name(message.kind)},
                       {"count", placed.group.count},
                       {"program", message.program},
                       {"pids", placed.group.pids},
                       {"has_more_pids", placed.group.has_more_pids},
                       {"first", message.when},
                       {"last", placed.group.last_when},
                       {"detail", message.detail}};
    if (message.instruction != 0)
        entry["instruction"] = fmt::format("{:#x}", message.instruction);
    if (message.address)
        entry["address"] = fmt::format("{:#x}", *message.address);
    if (message.bytes > 0)
        entry["memory_bytes"] = message.bytes;
    if (const int64_t step = placed.group.step_bytes(); step != 0)
        entry["step_bytes"] = step;
    entry["module"] = placed.place.file.empty() ? message.module : placed.place.file;
    entry["frames"] = ordered_json::array();
    for (const model::SourceFrame& frame : placed.place.frames)
        entry["frames"].push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}, {"inlined", frame.inlined}});
    entry["why_no_line"] = placed.place.why_not;
    return entry;
}

} // namespace

std::string kernel_log_json(const kernel_log::Study& study) {
    ordered_json document{{"schema", "plumb-kernel-log/1"}, {"log", study.log}, {"lines", study.lines}, {"messages", study.messages},
                          {"left_out", study.left_out}, {"groups", ordered_json::array()}, {"suppressed", study.suppressed}};
    for (const kernel_log::PlacedGroup& each : study.groups)
        document["groups"].push_back(group_json(each));
    return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
