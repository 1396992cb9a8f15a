#include "trace/file_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>

namespace plumb::trace {

namespace {

// The namespace of a program without /proc is not known: most are in that of their recorder.
void place_namespaces(const std::vector<TraceReader>& files, size_t hosts, std::vector<FilePlace>& places) {
    std::vector<uint64_t> usual(hosts);
    for (const bool recorders : {true, false})
        for (size_t i = 0; i < files.size(); ++i)
            if (files[i].is_of_recorder() == recorders && usual[places[i].host] == 0)
                usual[places[i].host] = places[i].pid_namespace;
    for (FilePlace& place : places)
        if (place.pid_namespace == 0)
            place.pid_namespace = usual[place.host];
}

} // namespace

// Every other host's clock is set to the first one's by what both clocks said when a file was opened.
std::vector<FilePlace> place_files(const std::vector<TraceReader>& files, const RunFacts* facts, model::Run& run) {
    std::vector<uint64_t> unix_minus_monotonic;
    std::map<std::string, std::vector<std::pair<uint64_t, size_t>>> machines; // by name
    for (const TraceReader& file : files) // those that know theirs first: the others' is the first of their name
        if (file.header().machine != 0)
            machines[file.header().host].emplace_back(file.header().machine, SIZE_MAX);
    const auto host_number = [&](const TraceReader& file) {
        auto& known = machines[file.header().host];
        if (known.empty())
            known.emplace_back(0, SIZE_MAX);
        const auto same = std::ranges::find(known, file.header().machine, [](const auto& one) { return one.first; });
        size_t& number = (same == known.end() ? known.begin() : same)->second;
        if (number == SIZE_MAX) {
            number = run.hosts.size();
            const auto others = std::ranges::count_if(known, [](const auto& one) { return one.second != SIZE_MAX; });
            model::Host& host = run.hosts.emplace_back();
            host.name = file.header().host;
            host.machine = (same == known.end() ? known.begin() : same)->first;
            if (others > 1)
                host.name += fmt::format(" ({})", others);
            unix_minus_monotonic.push_back(file.header().opened_unix_ns - file.header().opened_ns);
        }
        return number;
    };
    for (const TraceReader& file : files)
        if (facts && facts->host == file.header().host)
            host_number(file);
    std::vector<FilePlace> places;
    for (const TraceReader& file : files) {
        const size_t host = host_number(file);
        places.push_back({host, unix_minus_monotonic[host] - unix_minus_monotonic[0], file.header().pid_namespace});
    }
    place_namespaces(files, run.hosts.size(), places);
    return places;
}

} // namespace plumb::trace
