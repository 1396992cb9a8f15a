#include "analyses/memory/numa_headroom.h"

#include "analyses/memory/memory_objects.h"

#include <algorithm>
#include <tuple>

namespace plumb {

namespace {

constexpr uint64_t kLeastFaultSamples = 20; // of a process: fewer do not show who needs how much
constexpr double kLeastRun = 0.05;          // of the process's life: a thread that works
constexpr double kLeastPart = 0.05;         // of the process's memory: a thread that has some
constexpr double kLeastGuest = 0.01;        // of a node: a process that counts although plumb has no place for it

// One process's memory, divided among its threads and the nodes that they want it on.
class Need {
  public:
    Need(const model::Run& run, size_t index, const std::map<int, int>& node_of_cpu)
        : index_(index), process_(run.processes[index]) {
        const model::Footprint& footprint = process_.memory.footprint;
        // One that is interleaved fills the nodes, but asks none of them for more than the others.
        if (!is_interleaved(process_) && !divide_by_faults(footprint.own_bytes))
            divide_by_time(footprint.own_bytes, node_of_cpu);
        add_idle_threads();
        std::ranges::sort(tenants_, [&](const Tenant& left, const Tenant& right) { return order(left) < order(right); });
    }
    const model::Process& process() const { return process_; }
    const std::vector<Tenant>& tenants() const { return tenants_; }
    bool by_faults() const { return by_faults_; }

  private:
    std::tuple<bool, uint64_t, uint32_t> order(const Tenant& tenant) const {
        const model::Thread& thread = process_.threads[tenant.thread];
        return {thread.tid != process_.pid, thread.start_ns, tenant.thread};
    }

    bool divide_by_faults(uint64_t bytes) {
        std::map<uint32_t, std::map<int, uint64_t>> faults; // by thread and node of its CPU
        uint64_t all = 0, samples = 0;
        for (const model::FirstTouch& touch : process_.memory.touches) {
            if (touch.cpu_node < 0 || touch.thread >= process_.threads.size())
                continue;
            if (touch.area < process_.memory.areas.size()) {
                const model::MemoryArea& area = process_.memory.areas[touch.area];
                if (area.shared || (area.file && !area.writable))
                    continue; // not its own
            }
            faults[same_thread(touch.thread)][touch.cpu_node] += touch.faults;
            all += touch.faults;
            samples += touch.samples;
        }
        if (samples < kLeastFaultSamples || all == 0)
            return false;
        by_faults_ = true;
        for (const auto& [thread, nodes] : faults) {
            Tenant tenant{.process = index_, .thread = thread, .bytes = 0, .by_node = {}};
            for (const auto& [node, count] : nodes)
                add(tenant, node, static_cast<double>(bytes) * static_cast<double>(count) / static_cast<double>(all));
            if (static_cast<double>(tenant.bytes) >= kLeastPart * static_cast<double>(bytes))
                tenants_.push_back(std::move(tenant));
        }
        return true;
    }

    void divide_by_time(uint64_t bytes, const std::map<int, int>& node_of_cpu) {
        std::vector<std::map<int, uint64_t>> run_ns(process_.threads.size());
        size_t working = 0;
        for (size_t thread = 0; thread < process_.threads.size(); ++thread) {
            if (!works(process_.threads[thread]))
                continue;
            for (const model::ThreadInterval& interval : process_.threads[thread].intervals)
                if (const auto node = node_of_cpu.find(interval.cpu); node != node_of_cpu.end())
                    run_ns[same_thread(thread)][node->second] += interval.run_ns;
        }
        for (const auto& nodes : run_ns)
            working += !nodes.empty();
        for (size_t thread = 0; thread < run_ns.size(); ++thread) {
            uint64_t all_ns = 0;
            for (const auto& [node, time] : run_ns[thread])
                all_ns += time;
            if (all_ns == 0)
                continue;
            Tenant tenant{.process = index_, .thread = static_cast<uint32_t>(thread), .bytes = 0, .by_node = {}};
            for (const auto& [node, time] : run_ns[thread])
                add(tenant, node, static_cast<double>(bytes) / static_cast<double>(working) *
                                      static_cast<double>(time) / static_cast<double>(all_ns));
            tenants_.push_back(std::move(tenant));
        }
    }

    // A thread that executed another program is there twice: the latest one stands for both.
    uint32_t same_thread(size_t thread) const {
        size_t latest = thread;
        for (size_t other = thread + 1; other < process_.threads.size(); ++other)
            if (process_.threads[other].tid == process_.threads[thread].tid)
                latest = other;
        return static_cast<uint32_t>(latest);
    }

    // They take positions as well.
    void add_idle_threads() {
        for (size_t thread = 0; thread < process_.threads.size(); ++thread) {
            const model::Thread& one = process_.threads[thread];
            const bool listed = std::ranges::any_of(tenants_, [&](const Tenant& tenant) {
                return process_.threads[tenant.thread].tid == one.tid;
            });
            if (!listed && (one.tid == process_.pid || works(one)))
                tenants_.push_back({.process = index_, .thread = static_cast<uint32_t>(thread), .bytes = 0, .by_node = {}});
        }
    }

    bool works(const model::Thread& thread) const {
        const uint64_t life_ns = process_.end_ns - std::min(process_.end_ns, process_.start_ns);
        return static_cast<double>(thread.run_ns) >= kLeastRun * static_cast<double>(life_ns) && thread.run_ns > 0;
    }

    static void add(Tenant& tenant, int node, double bytes) {
        tenant.by_node[node] += static_cast<uint64_t>(bytes);
        tenant.bytes += static_cast<uint64_t>(bytes);
    }

    size_t index_;
    const model::Process& process_;
    std::vector<Tenant> tenants_;
    bool by_faults_ = false;
};

// Segments that the processes of a host share fill a node once, however many map them: as much as the process with most of
// them has, where their pages lie. Which segment is whose the kernel does not say in bytes; of separate ones this is too little.
void add_shared(HostHeadroom& room, const std::vector<const Need*>& needs) {
    uint64_t most = 0, all = 0;
    std::map<int, uint64_t> faults; // in shared memory, by node of the page
    for (const Need* need : needs) {
        const model::Memory& memory = need->process().memory;
        most = std::max(most, memory.footprint.shared_bytes);
        for (const model::FirstTouch& touch : memory.touches)
            if (touch.page_node >= 0 && touch.area < memory.areas.size() && memory.areas[touch.area].shared) {
                faults[touch.page_node] += touch.faults;
                all += touch.faults;
            }
    }
    for (const auto& [node, count] : faults)
        if (const auto found = room.nodes.find(node); found != room.nodes.end()) {
            const auto bytes = static_cast<uint64_t>(static_cast<double>(most) * static_cast<double>(count) /
                                                     static_cast<double>(all));
            found->second.needed_bytes += bytes;
            found->second.shared_bytes += bytes;
        }
}

void add_needs(HostHeadroom& room, const Need& need, int sign) {
    for (const Tenant& tenant : need.tenants())
        for (const auto& [node, bytes] : tenant.by_node)
            if (const auto found = room.nodes.find(node); found != room.nodes.end())
                found->second.needed_bytes += sign > 0 ? bytes : 0 - bytes;
}

double lack_of(const HostHeadroom& room) {
    double most = 0;
    for (const auto& [number, node] : room.nodes)
        if (node.room_bytes > 0)
            most = std::max(most, static_cast<double>(node.needed_bytes) / static_cast<double>(node.room_bytes));
    return most;
}

// Processes that follow one another do not need their memory together: of all moments the one when most is lacking.
std::vector<const Need*> worst_moment(HostHeadroom room, const std::vector<Need>& needs) {
    std::vector<const Need*> begins, ends, living, worst;
    for (const Need& need : needs)
        begins.push_back(&need);
    ends = begins;
    const auto start = [](const Need* need) { return need->process().start_ns; };
    const auto end = [](const Need* need) { // one whose end nobody saw lives on
        const model::Process& process = need->process();
        return process.end_ns > process.start_ns ? process.end_ns : UINT64_MAX;
    };
    std::ranges::stable_sort(begins, {}, start);
    std::ranges::stable_sort(ends, {}, end);
    double most = -1;
    uint64_t moment_ns = 0;
    size_t ended = 0;
    for (const Need* one : begins) {
        for (; ended < ends.size() && end(ends[ended]) <= start(one); ++ended)
            add_needs(room, *ends[ended], -1);
        add_needs(room, *one, 1);
        if (lack_of(room) > most) {
            most = lack_of(room);
            moment_ns = start(one);
        }
    }
    for (const Need* one : begins)
        if (start(one) <= moment_ns && end(one) > moment_ns)
            worst.push_back(one);
    return worst;
}

std::map<int, NumaHeadroom> nodes_of(const model::Host& host) {
    std::map<int, NumaHeadroom> nodes;
    for (const NodeSpill& spill : node_spills(host)) {
        NumaHeadroom& node = nodes[spill.node];
        node.node = spill.node;
        node.total_bytes = spill.total_bytes;
        node.spill = spill;
    }
    for (const model::NodeMemory& memory : host.memory) {
        const uint64_t gives_way = memory.reclaimable_bytes > 0 ? memory.reclaimable_bytes : memory.file_bytes;
        NumaHeadroom& node = nodes[memory.node];
        node.room_bytes = std::max(node.room_bytes, memory.free_bytes + gives_way);
    }
    return nodes;
}

} // namespace

int Tenant::main_node() const {
    const auto most = std::ranges::max_element(by_node, {}, &std::pair<const int, uint64_t>::second);
    return most == by_node.end() ? -1 : most->first;
}

bool NumaHeadroom::overflows() const {
    return static_cast<double>(needed_bytes) > kUsableRoom * static_cast<double>(room_bytes) && spill.is_much();
}

bool is_interleaved(const model::Process& process) {
    const std::string& policy = process.memory.footprint.policy;
    return policy.starts_with("interleave") || policy.starts_with("weighted interleave");
}

HostHeadroom headroom_of(const model::Run& run, const model::Host& host) {
    HostHeadroom room;
    if (host.nodes.size() < 2)
        return room;
    std::map<int, int> node_of_cpu;
    for (const model::NumaNode& node : host.nodes)
        for (const int cpu : node.cpus)
            node_of_cpu[cpu] = node.node;
    room.nodes = nodes_of(host);
    uint64_t smallest_bytes = UINT64_MAX;
    for (const auto& [number, node] : room.nodes)
        smallest_bytes = std::min(smallest_bytes, node.total_bytes);
    std::vector<Need> needs;
    for (size_t index = 0; index < run.processes.size(); ++index) {
        const model::Process& process = run.processes[index];
        const uint64_t bytes = process.memory.footprint.own_bytes;
        // Shells and launchers, which nothing was recorded inside, take no CPU of their own.
        const bool counts = process.has_shim || static_cast<double>(bytes) >= kLeastGuest * static_cast<double>(smallest_bytes);
        if (bytes > 0 && counts && host_of(run, process) == &host)
            needs.emplace_back(run, index, node_of_cpu);
    }
    if (needs.empty())
        return {};
    std::vector<const Need*> worst = worst_moment(room, needs);
    std::ranges::stable_sort(worst, {}, [](const Need* need) {
        return std::pair(need->process().rank, need->process().start_ns);
    });
    room.touch_known = true;
    for (const Need* need : worst) {
        add_needs(room, *need, 1);
        room.touch_known &= need->by_faults() || is_interleaved(need->process());
        room.tenants.insert(room.tenants.end(), need->tenants().begin(), need->tenants().end());
    }
    add_shared(room, worst);
    return room;
}

CrowdedNodes crowded_nodes(const model::Run& run) {
    CrowdedNodes crowded;
    for (const model::Host& host : run.hosts)
        for (const auto& [number, node] : headroom_of(run, host).nodes)
            if (node.overflows())
                crowded[&host].insert(number);
    return crowded;
}

} // namespace plumb
