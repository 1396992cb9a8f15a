#include "network/files/slurm_topology.h"

#include "network/files/host_list.h"
#include "network/machine/switched_network.h"
#include "support/error.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace plumb::network {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
    return result;
}

struct SwitchLine {
    size_t number = 0; // of the line
    std::string name;
    std::vector<std::string> switches, nodes;
};

// Keys in any case; a backslash at the end of a line joins it to the next.
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {}

    bool next(std::string& line, size_t& number) {
        line.clear();
        number = number_ + 1;
        while (at_ < text_.size()) {
            const size_t end = std::min(text_.find('\n', at_), text_.size());
            std::string_view part = text_.substr(at_, end - at_);
            at_ = end + 1;
            ++number_;
            part = part.substr(0, part.find('#'));
            while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back())))
                part.remove_suffix(1);
            const bool goes_on = part.ends_with('\\');
            line += part.substr(0, part.size() - goes_on);
            if (!goes_on)
                return true;
        }
        return !line.empty();
    }

  private:
    std::string_view text_;
    size_t at_ = 0, number_ = 0;
};

std::map<std::string, std::string> keys_of(const std::string& line, size_t number) {
    std::map<std::string, std::string> keys;
    for (size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string::npos;) {
        const size_t end = std::min(line.find_first_of(" \t", at), line.size()), equals = line.find('=', at);
        if (equals >= end)
            throw Error(fmt::format("line {}: \"{}\" is not of the form Key=Value", number, line.substr(at, end - at)));
        keys[lower(std::string_view(line).substr(at, equals - at))] = line.substr(equals + 1, end - equals - 1);
        at = end;
    }
    return keys;
}

std::vector<SwitchLine> switch_lines(std::string_view text) {
    std::vector<SwitchLine> all;
    Lines lines(text);
    std::string line;
    for (size_t number = 0; lines.next(line, number);) {
        const auto keys = keys_of(line, number);
        if (keys.empty())
            continue;
        if (keys.contains("blockname") || keys.contains("blocksizes"))
            throw Error(fmt::format("line {}: blocks (topology/block) say nothing of how nodes are wired; a tree is needed", number));
        const auto name = keys.find("switchname");
        if (name == keys.end())
            throw Error(fmt::format("line {}: no SwitchName=", number));
        for (std::string& each : expand_host_list(name->second)) {
            SwitchLine made{number, std::move(each), {}, {}};
            if (const auto switches = keys.find("switches"); switches != keys.end() && !switches->second.empty())
                made.switches = expand_host_list(switches->second);
            // scontrol lists, of a switch of switches, all nodes below it.
            else if (const auto nodes = keys.find("nodes"); nodes != keys.end() && !nodes->second.empty())
                made.nodes = expand_host_list(nodes->second);
            all.push_back(std::move(made));
        }
    }
    return all;
}

// `below`: of each switch those that its line names.
void refuse_cycles(const std::vector<SwitchLine>& lines, const std::vector<std::vector<uint32_t>>& below) {
    std::vector<uint32_t> above(lines.size(), 0), free, upwards(lines.size(), 0);
    for (const auto& each : below)
        for (const uint32_t other : each)
            ++above[other];
    for (uint32_t at = 0; at < lines.size(); ++at)
        if (above[at] == 0)
            free.push_back(at);
    for (size_t i = 0; i < free.size(); ++i) // from the top down
        for (const uint32_t other : below[free[i]])
            if (--above[other] == 0)
                free.push_back(other);
    if (free.size() == lines.size())
        return;
    // Each of those that are left has another one of them above it: whoever goes on upwards comes into a ring.
    for (uint32_t at = 0; at < lines.size(); ++at)
        for (const uint32_t other : below[at])
            if (above[at] > 0)
                upwards[other] = at;
    auto at = static_cast<uint32_t>(std::ranges::find_if(above, [](uint32_t count) { return count > 0; }) - above.begin());
    for (size_t i = 0; i < lines.size(); ++i)
        at = upwards[at];
    throw Error(fmt::format("line {}: switch {} is below itself", lines[at].number, lines[at].name));
}

} // namespace

bool is_slurm_topology(std::string_view text) {
    const std::string beginning = lower(text.substr(0, 1 << 16));
    return beginning.find("switchname=") != std::string::npos || beginning.find("blockname=") != std::string::npos;
}

TopologyFile slurm_topology(std::string_view text) {
    const std::vector<SwitchLine> lines = switch_lines(text);
    SwitchedPlan plan;
    plan.kind = "tree";
    std::unordered_map<std::string, uint32_t> switches, nodes;
    for (const SwitchLine& line : lines) {
        if (!switches.emplace(line.name, static_cast<uint32_t>(plan.switches.size())).second)
            throw Error(fmt::format("line {}: switch {} is described twice", line.number, line.name));
        plan.switches.push_back(line.name);
    }
    std::vector<std::vector<uint32_t>> below(lines.size());
    for (const SwitchLine& line : lines) {
        const uint32_t own = switches.at(line.name);
        for (const std::string& name : line.switches) {
            const auto found = switches.find(name);
            if (found == switches.end())
                throw Error(fmt::format("line {}: switch {} has {} below it, which no line describes", line.number, line.name, name));
            plan.between.push_back({found->second, own, 1});
            below[own].push_back(found->second);
        }
        for (const std::string& name : line.nodes) {
            const auto [entry, is_new] = nodes.emplace(name, static_cast<uint32_t>(plan.nodes.size()));
            if (is_new)
                plan.nodes.push_back(name);
            plan.at.push_back({entry->second, own, 1});
        }
    }
    refuse_cycles(lines, below);
    TopologyFile file;
    file.network = std::make_unique<SwitchedNetwork>(std::move(plan));
    file.notes.push_back("Slurm's file does not say how many cables join two switches; each such bundle counts as one link");
    return file;
}

} // namespace plumb::network
