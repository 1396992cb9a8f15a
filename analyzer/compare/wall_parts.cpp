#include "compare/wall_parts.h"

#include <algorithm>

namespace plumb {

namespace {

bool is_work(TimeClass kind) {
    return kind == TimeClass::computing || kind == TimeClass::allocator || kind == TimeClass::kernel;
}

// Where nobody looked at what the wall time depended on: what the thread that ran longest did.
std::map<std::string, WallPart> parts_of_busiest(const model::Run& run, double wall_s) {
    double run_s = 0, delay_s = 0;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            if (static_cast<double>(thread.run_ns) * 1e-9 > run_s) {
                run_s = static_cast<double>(thread.run_ns) * 1e-9;
                delay_s = static_cast<double>(thread.run_delay_ns) * 1e-9;
            }
    run_s = std::min(run_s, wall_s);
    delay_s = std::min(delay_s, wall_s - run_s);
    return {{"its busiest thread runs", {run_s, true}},
            {"its busiest thread waits for a CPU", {delay_s, false}},
            {"its busiest thread is off the CPU, or not there", {wall_s - run_s - delay_s, false}}};
}

} // namespace

std::map<std::string, WallPart> wall_parts_of(const Report& report) {
    std::map<std::string, WallPart> parts;
    for (const AccountLine& line : report.account.wall) {
        WallPart& part = parts[words_of(line)];
        part.seconds += line.seconds;
        part.is_work = is_work(line.kind);
    }
    return parts.empty() ? parts_of_busiest(*report.run, static_cast<double>(report.run->wall_ns()) * 1e-9) : parts;
}

} // namespace plumb
