#include "placement/placement_table.h"

#include "platform/cpu_list.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <iterator>
#include <map>

namespace plumb::placement {

namespace {

// A page of a terminal: a large machine's plan is cut in the middle of its repetition, never silently.
constexpr size_t kPlannedLines = 16;
constexpr size_t kAppliedLines = 64;

std::string number_or_dash(int number) { return number < 0 ? "-" : std::to_string(number); }

// Package, NUMA node and core of a CPU in three columns.
std::string where_columns(const platform::Topology& topology, int cpu) {
    const platform::CpuPlace* place = topology.find(cpu);
    if (!place)
        return fmt::format("{:>8}{:>6}{:>6}", "?", "?", "?");
    const std::string core = number_or_dash(place->core) + (place->sibling > 0 ? fmt::format("+{}", place->sibling) : "");
    return fmt::format("{:>8}{:>6}{:>6}", number_or_dash(place->package), number_or_dash(place->node), core);
}

int relative_number(const std::vector<int>& allowed, int cpu) {
    const auto found = std::lower_bound(allowed.begin(), allowed.end(), cpu);
    return found != allowed.end() && *found == cpu ? static_cast<int>(found - allowed.begin()) : -1;
}

std::string position_of(size_t index, size_t positions) {
    const size_t round = index / positions;
    return round == 0 ? fmt::format("{}", index) : fmt::format("{} (round {})", index % positions, round + 1);
}

template <class... Values>
void add(std::string& text, fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(text), pattern, std::forward<Values>(values)...);
}

} // namespace

std::string format_plan(const Plan& plan, const platform::Topology& topology, const std::vector<int>& allowed,
                        const Wish& wish, int threads_per_process, int rank) {
    std::string text;
    add(text, "plumb: placement {}: {} position(s) on the {} CPU(s) this job may use ({})\n", describe_wish(wish),
        plan.first_pass, allowed.size(), platform::format_cpu_list(allowed));
    if (threads_per_process > 0)
        add(text, "  each process takes {} position(s){}\n", threads_per_process,
            rank >= 0 ? fmt::format("; this is local rank {}", rank) : "");
    add(text, "  {:>8}{:>10}{:>6}{:>8}{:>6}{:>6}\n", "position", "relative", "CPU", "package", "node", "core");
    const size_t shown = std::min(plan.first_pass, kPlannedLines);
    for (size_t i = 0; i < shown; ++i)
        add(text, "  {:>8}{:>10}{:>6}{}\n", i, relative_number(allowed, plan.cpus[i]), plan.cpus[i],
            where_columns(topology, plan.cpus[i]));
    if (shown < plan.first_pass)
        add(text, "  then, in this order, CPUs {}\n",
            platform::format_cpu_list({plan.cpus.begin() + static_cast<long>(shown),
                                       plan.cpus.begin() + static_cast<long>(plan.first_pass)}));
    if (plan.first_pass < plan.cpus.size())
        add(text, "  further threads fill the gaps, then share CPUs in the same order\n");
    else
        add(text, "  further threads share CPUs in the same order\n");
    return text;
}

std::string format_applied(const Plan& plan, const platform::Topology& topology, const PinGroup& group) {
    const std::vector<PinGroup::Applied> applied = group.applied();
    const pin::Group& table = group.table();
    std::string text;
    if (applied.empty() && table.kept == 0 && table.skipped == 0)
        return text;
    add(text, "plumb: placement as applied\n");
    add(text, "  {:>16}{:>6}{:>8}{:>6}{:>6}  {:>8} {:>8}  {}\n", "position", "CPU", "package", "node", "core",
        "process", "thread", "program");
    for (size_t i = 0; i < std::min(applied.size(), kAppliedLines); ++i) {
        const pin::GroupEntry& entry = applied[i].entry;
        const int planned = plan.cpus[applied[i].position % plan.cpus.size()];
        add(text, "  {:>16}{:>6}{}  {:>8} {:>8}  {}", position_of(applied[i].position, plan.cpus.size()), planned,
            where_columns(topology, planned), entry.pid, entry.tid, entry.name);
        if (entry.uses > 1)
            add(text, ", the last of {} in turn", entry.uses);
        if (entry.cpu < 0)
            add(text, ", REFUSED: {}", std::strerror(entry.error));
        else if (entry.error != 0)
            add(text, ", memory not bound: {}", std::strerror(entry.error));
        else if (entry.memory_node >= 0)
            add(text, ", memory on node {}", entry.memory_node);
        text += '\n';
    }
    if (applied.size() > kAppliedLines)
        add(text, "  and {} more\n", applied.size() - kAppliedLines);
    if (table.wrapped > 0)
        add(text, "  {} thread(s) shared a CPU with another thread of this group: there were more threads than "
                  "positions\n", table.wrapped);
    if (table.failed > 0)
        add(text, "  {} thread(s) could not be pinned or bound; the table shows the kernel's errors\n", table.failed);
    if (table.kept > 0)
        add(text, "  {} thread(s) were created with their own CPU mask and keep it\n", table.kept);
    if (table.skipped > 0)
        add(text, "  {} helper thread(s) of run-time libraries were not pinned\n", table.skipped);
    return text;
}

} // namespace plumb::placement
