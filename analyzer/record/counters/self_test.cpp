#include "record/counters/self_test.h"

#include "record/counters/event_check.h"
#include "record/counters/known_work.h"

#include <algorithm>
#include <sstream>

namespace plumb::record {

namespace {

using Events = std::vector<const CounterEvent*>;

void refuse(TestedGroup& tested, Events& left, size_t place, const std::string& why) {
    tested.refused.push_back({left[place]->name, why});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
}

// Which event keeps a group from starting: the first that does not start by itself, else the last one, which is one too many.
size_t keeps_from_starting(CounterSource& source, const Events& events, pid_t pid) {
    for (size_t i = 0; i < events.size(); ++i) {
        const OpenedGroup alone = source.open(std::span(&events[i], 1), pid);
        if (!alone.group || !alone.group->start().empty())
            return i;
    }
    return events.size() - 1;
}

// Opened and counting; null: no event is left.
std::unique_ptr<CounterGroup> start_group(CounterSource& source, TestedGroup& tested, Events& left, pid_t pid) {
    while (!left.empty()) {
        OpenedGroup opened = source.open(left, pid);
        if (!opened.group) {
            refuse(tested, left, std::min(opened.refused, left.size() - 1), opened.why);
            continue;
        }
        const std::string why = opened.group->start();
        if (why.empty())
            return std::move(opened.group);
        opened.group.reset();
        refuse(tested, left, keeps_from_starting(source, left, pid), why);
    }
    return nullptr;
}

} // namespace

TestedGroup test_group(CounterSource& source, const CounterGroupPlan& plan, std::pair<int, int> cpus) {
    TestedGroup tested;
    tested.name = plan.name;
    Events left;
    std::ranges::copy_if(plan.events, std::back_inserter(left), [&](const CounterEvent* event) { return source.knows(*event); });
    if (left.empty())
        return tested;
    KnownWork work(cpus.first, cpus.second, std::ranges::any_of(left, needs_scattered_loads));
    const auto refuse_all = [&](const std::string& why) {
        tested.is_lasting = false;
        while (!left.empty())
            refuse(tested, left, 0, why);
    };
    if (!work.works()) {
        refuse_all(work.why());
        return tested;
    }
    const std::unique_ptr<CounterGroup> group = start_group(source, tested, left, work.pid());
    if (!group)
        return tested;
    if (!work.run()) {
        refuse_all("the known work did not end");
        return tested;
    }
    group->stop();
    const auto values = group->read();
    if (!values || values->size() != left.size()) {
        refuse_all("its count cannot be read");
        return tested;
    }
    for (size_t i = 0; i < values->size(); ++i) {
        const CounterEvent& event = *left[i];
        const std::string fault = fault_of((*values)[i], work.count(event.quantity), work.count(event.quantity, true));
        tested.is_lasting &= running_share((*values)[i]) >= kLeastRunning;
        if (fault.empty())
            tested.events.push_back(&event);
        else
            tested.refused.push_back({event.name, fault});
    }
    return tested;
}

std::string format_groups(const std::vector<TestedGroup>& groups) {
    std::string text;
    for (const TestedGroup& group : groups) {
        text += "group\t" + group.name + "\n";
        for (const CounterEvent* event : group.events)
            text += std::string("event\t") + event->name + "\n";
        for (const RefusedEvent& refused : group.refused)
            text += "refused\t" + refused.event + "\t" + refused.why + "\n";
    }
    return text;
}

std::vector<TestedGroup> parse_groups(const std::string& text) {
    std::vector<TestedGroup> groups;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t tab = line.find('\t');
        if (tab == std::string::npos)
            return {};
        const std::string kind = line.substr(0, tab), rest = line.substr(tab + 1);
        if (kind == "group") {
            groups.emplace_back().name = rest;
            continue;
        }
        const size_t second = rest.find('\t');
        const CounterEvent* event = find_event(rest.substr(0, second));
        if (groups.empty() || !event || (kind == "refused") != (second != std::string::npos))
            return {};
        if (kind == "event")
            groups.back().events.push_back(event);
        else
            groups.back().refused.push_back({event->name, rest.substr(second + 1)});
    }
    return groups;
}

} // namespace plumb::record
