#include "analyses/memory/memory_objects.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace plumb {

namespace {

constexpr double kAssumedRatio = 1.5; // where the firmware reports no distances: a usual two-socket machine

// What the distances say that an access takes longer than a local one, of the time it takes.
double excess_of(const model::Host* host, const model::MemoryTraffic& traffic) {
    const double ratio = host ? distance_ratio(*host, traffic.cpu_node, traffic.page_node) : 0;
    return 1 - 1 / (ratio > 0 ? ratio : kAssumedRatio);
}

class Gatherer {
  public:
    explicit Gatherer(model::CallPaths& paths) : paths_(paths), run_(paths.run()) {}

    MemoryUse gather() {
        for (const model::Host& host : run_.hosts)
            use_.recorded |= host.nodes.size() > 1;
        for (size_t process = 0; process < run_.processes.size(); ++process)
            add_process(process);
        for (auto& [key, object] : objects_)
            use_.objects.push_back(std::move(object));
        std::ranges::stable_sort(use_.objects, [](const MemoryObject& left, const MemoryObject& right) {
            return std::tie(left.remote_s, left.seconds) > std::tie(right.remote_s, right.seconds);
        });
        return std::move(use_);
    }

  private:
    using Key = std::tuple<size_t, NamedMemory::Kind, std::string>; // process, kind, name

    void add_process(size_t index) {
        const model::Process& process = run_.processes[index];
        const model::Memory& memory = process.memory;
        if (memory.traffic.empty())
            return;
        MemoryNames names(paths_, index);
        const model::Host* host = host_of(run_, process);
        for (const model::MemoryTraffic& traffic : memory.traffic) {
            if (!traffic.nodes_known()) {
                use_.unknown_samples += traffic.samples;
                continue;
            }
            const NamedMemory& named = names.at(traffic.last_address, traffic.area, traffic.first_ns, traffic.last_ns,
                                                traffic.kind.width, traffic.instruction);
            add_traffic(object_at(index, named), index, host, traffic);
        }
        for (const model::FirstTouch& touch : memory.touches) {
            const NamedMemory& named = names.at(touch.lowest_address, touch.area, touch.first_ns, touch.last_ns);
            const auto object = objects_.find({index, named.kind, named.name});
            if (object != objects_.end())
                object->second.touches.push_back(&touch);
        }
    }

    MemoryObject& object_at(size_t process, const NamedMemory& named) {
        const auto [found, is_new] = objects_.try_emplace({process, named.kind, named.name});
        if (is_new) {
            found->second.process = process;
            found->second.memory = named;
        }
        return found->second;
    }

    void add_traffic(MemoryObject& object, size_t process, const model::Host* host,
                     const model::MemoryTraffic& traffic) {
        const double seconds = static_cast<double>(traffic.time_ns) * 1e-9;
        const std::pair<int, int> nodes{traffic.cpu_node, traffic.page_node};
        for (Flow* flow : {&object.matrix[nodes], &use_.matrix[nodes]}) {
            flow->samples += traffic.samples;
            flow->seconds += seconds;
        }
        const uint64_t stores = traffic.kind.store ? traffic.samples : 0;
        const uint64_t remote = traffic.remote() ? traffic.samples : 0;
        object.samples += traffic.samples;
        object.remote_samples += remote;
        object.stores += stores;
        object.seconds += seconds;
        use_.samples += traffic.samples;
        use_.remote_samples += remote;
        use_.seconds += seconds;
        MemoryUser& user = object.users[traffic.thread];
        user.samples += traffic.samples;
        user.stores += stores;
        user.remote += remote;
        user.cpu_nodes[traffic.cpu_node] += traffic.samples;
        user.lowest_address = std::min(user.lowest_address, traffic.lowest_address);
        user.highest_address = std::max(user.highest_address, traffic.highest_address);
        object.traffic.push_back(&traffic);
        const std::vector<model::PathNode>& paths = run_.processes[process].paths;
        const uint32_t caller = traffic.path < paths.size() ? paths[traffic.path].parent : 0;
        const model::SourceFrame frame = paths_.user_frame_at(process, traffic.instruction, caller);
        object.lines.add(frame, seconds);
        if (!traffic.remote())
            return;
        object.remote_lines.add(frame, seconds);
        object.remote_s += seconds;
        object.excess_s += seconds * excess_of(host, traffic);
        use_.remote_s += seconds;
    }

    model::CallPaths& paths_;
    const model::Run& run_;
    MemoryUse use_;
    std::map<Key, MemoryObject> objects_;
};

} // namespace

std::pair<int, double> MemoryObject::home() const {
    std::map<int, uint64_t> by_node;
    for (const auto& [nodes, flow] : matrix)
        by_node[nodes.second] += flow.samples;
    const auto most = std::ranges::max_element(by_node, {}, &std::pair<const int, uint64_t>::second);
    if (most == by_node.end() || samples == 0)
        return {-1, 0};
    return {most->first, static_cast<double>(most->second) / static_cast<double>(samples)};
}

// Samples of one record are spread evenly over the stretch of addresses that it covers, which is an upper bound of what
// it used; then each stretch is charged to whoever used it most.
double MemoryObject::partition() const {
    constexpr size_t kBins = 64;
    uint64_t low = UINT64_MAX, high = 0;
    for (const model::MemoryTraffic* one : traffic) {
        low = std::min(low, one->lowest_address);
        high = std::max(high, one->highest_address);
    }
    if (traffic.empty() || high <= low)
        return 0;
    const uint64_t bin_bytes = (high - low) / kBins + 1;
    std::vector<std::map<uint32_t, double>> bins(kBins);
    for (const model::MemoryTraffic* one : traffic) {
        const size_t first = (one->lowest_address - low) / bin_bytes, last = (one->highest_address - low) / bin_bytes;
        for (size_t bin = first; bin <= last; ++bin)
            bins[bin][one->thread] += static_cast<double>(one->samples) / static_cast<double>(last - first + 1);
    }
    double owned = 0, all = 0;
    for (const auto& bin : bins) {
        double most = 0;
        for (const auto& [thread, weight] : bin) {
            most = std::max(most, weight);
            all += weight;
        }
        owned += most;
    }
    return all > 0 ? owned / all : 0;
}

std::pair<uint32_t, double> MemoryObject::first_toucher() const {
    std::map<uint32_t, uint64_t> by_thread;
    uint64_t all = 0;
    for (const model::FirstTouch* touch : touches) {
        by_thread[touch->thread] += touch->faults;
        all += touch->faults;
    }
    const auto most = std::ranges::max_element(by_thread, {}, &std::pair<const uint32_t, uint64_t>::second);
    if (most == by_thread.end() || all == 0)
        return {0, 0};
    return {most->first, static_cast<double>(most->second) / static_cast<double>(all)};
}

size_t MemoryObject::user_nodes(double least_share) const {
    std::map<int, uint64_t> by_node;
    for (const auto& [nodes, flow] : matrix)
        by_node[nodes.first] += flow.samples;
    return static_cast<size_t>(std::ranges::count_if(by_node, [&](const auto& node) {
        return static_cast<double>(node.second) >= least_share * static_cast<double>(samples);
    }));
}

MemoryUse memory_use_of(model::CallPaths& paths) { return Gatherer(paths).gather(); }

double distance_ratio(const model::Host& host, int from, int to) {
    const auto place = [&](int node) {
        return static_cast<size_t>(std::ranges::find(host.nodes, node, &model::NumaNode::node) - host.nodes.begin());
    };
    const size_t begin = place(from), end = place(to);
    if (begin >= host.nodes.size() || end >= host.nodes.size())
        return 0;
    const std::vector<int>& distances = host.nodes[begin].distances;
    if (begin >= distances.size() || end >= distances.size() || distances[begin] <= 0)
        return 0;
    return std::max(1.0, static_cast<double>(distances[end]) / distances[begin]);
}

const model::Host* host_of(const model::Run& run, const model::Process& process) {
    for (const model::Host& host : run.hosts)
        if (host.name == process.host || run.hosts.size() == 1)
            return &host;
    return nullptr;
}

} // namespace plumb
