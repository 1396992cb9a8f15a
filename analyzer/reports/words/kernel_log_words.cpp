#include "reports/words/kernel_log_words.h"

#include "support/figures.h"

#include <cstdlib>
#include <fmt/format.h>

namespace plumb {

using kernel_log::Group;
using kernel_log::PlacedGroup;

std::string kernel_log_heading(kernel_log::Kind kind) {
    using kernel_log::Kind;
    switch (kind) {
    case Kind::unaligned:
        return "Accesses that are not aligned, which the kernel carried out";
    case Kind::split_lock:
        return "Locked accesses across two cache lines";
    case Kind::bus_lock:
        return "Locks of the whole memory bus";
    case Kind::segfault:
        return "Invalid addresses";
    case Kind::trap:
        return "Exceptions of the processor";
    case Kind::killed:
        return "Processes killed for lack of memory";
    case Kind::machine_check:
        return "Errors of the hardware";
    case Kind::throttled:
        return "Clocks slowed down by temperature";
    case Kind::suppressed:
        break;
    }
    return {};
}

std::string kernel_log_advice(kernel_log::Kind kind) {
    using kernel_log::Kind;
    switch (kind) {
    case Kind::unaligned:
        return "Each of them takes an exception, thousands of cycles: put the data where its type belongs (the order in a common block, no packed "
               "structures, aligned buffers).";
    case Kind::split_lock:
    case Kind::bus_lock:
        return "Each of them stops the other CPUs, and the kernel may slow its program down on purpose: align what is locked to its size. The kernel "
               "writes this once for each thread only.";
    case Kind::killed:
        return "Fewer processes a node, or less memory in each.";
    case Kind::machine_check:
        return "Have the node looked at before it takes further jobs.";
    case Kind::throttled:
        return "Figures of such a node are not those of the others: look at its cooling.";
    case Kind::segfault:
    case Kind::trap:
    case Kind::suppressed:
        break;
    }
    return {};
}

std::string place_words(const PlacedGroup& placed) {
    const kernel_log::Message& message = placed.group.first;
    if (!placed.place.frames.empty()) {
        const model::SourceFrame& frame = placed.place.frames.front();
        const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
        return file.empty() ? frame.function : fmt::format("{}:{} in {}", file, frame.line, frame.function);
    }
    if (!placed.place.why_not.empty())
        return placed.place.why_not;
    if (message.kind == kernel_log::Kind::killed)
        return fmt::format("had {}{}", format_bytes(static_cast<double>(message.bytes)), message.detail.empty() ? "" : "; " + message.detail);
    return message.detail;
}

std::string program_words(const Group& group) {
    if (group.first.program.empty())
        return "-";
    if (group.pids.size() < 2)
        return group.first.program;
    return fmt::format("{} ({}{})", group.first.program, group.has_more_pids ? "more than " : "", counted(group.pids.size(), "process", "processes"));
}

std::string address_words(const Group& group) {
    const int64_t step = group.step_bytes();
    if (step == 0)
        return {};
    return fmt::format("each {} {} the one before: a walk through an array", counted(static_cast<uint64_t>(std::abs(step)), "byte", "bytes"),
                       step > 0 ? "after" : "before");
}

} // namespace plumb
