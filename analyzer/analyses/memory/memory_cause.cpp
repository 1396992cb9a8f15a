#include "analyses/memory/memory_cause.h"

#include "analyses/memory/memory_spill.h"

#include <algorithm>
#include <tuple>

namespace plumb {

namespace {

constexpr uint64_t kLeastRemote = 20;      // samples: fewer say nothing
constexpr double kLeastRemoteShare = 0.1;  // of the object's accesses
constexpr double kConcentrated = 0.8;      // of the accesses go to one node
constexpr double kPartitioned = 0.8;       // see MemoryObject::partition()
constexpr double kOneUser = 0.85;          // of the accesses are of one thread
constexpr double kUserNode = 0.1;          // of the accesses: a node whose CPUs use the object
constexpr double kOneToucher = 0.8;        // of the faults are of one thread
constexpr double kLeastStay = 0.1;         // of the time that a thread then uses that memory from afar: less is a visit
constexpr double kReadOnly = 0.05;         // of the accesses are stores
constexpr double kSpilled = 0.3;           // of an object is elsewhere than it was wanted
constexpr double kCrowdedOut = 0.1;        // likewise, where it is known that not all of it can be where it was wanted

// What one thread reaches for from another node.
struct Reach {
    uint64_t lowest_address = UINT64_MAX, highest_address = 0, last_ns = 0, time_ns = 0;
};

// Faults there that gave pages of the node before that: of all threads, and of this one while it was on the node itself.
struct Faults {
    uint64_t all = 0, own = 0;
};

Faults faults_in(const MemoryObject& object, uint32_t thread, int node, const Reach& reach) {
    Faults faults;
    for (const model::FirstTouch* touch : object.touches) {
        if (touch->page_node != node || touch->first_ns >= reach.last_ns || touch->lowest_address > reach.highest_address ||
            touch->highest_address < reach.lowest_address)
            continue;
        faults.all += touch->faults;
        faults.own += touch->thread == thread && touch->cpu_node == node ? touch->faults : 0;
    }
    return faults;
}

// The thread was on the node of this memory before it was remote to it: it touched it there, or used it there for more
// than a moment, or, where nobody saw who touched it, was there for more than a moment.
bool left(const model::Process& process, const MemoryObject& object, uint32_t thread) {
    std::map<int, Reach> reaches; // by node of the page
    for (const model::MemoryTraffic* traffic : object.traffic)
        if (traffic->thread == thread && traffic->remote()) {
            Reach& reach = reaches[traffic->page_node];
            reach.lowest_address = std::min(reach.lowest_address, traffic->lowest_address);
            reach.highest_address = std::max(reach.highest_address, traffic->highest_address);
            reach.last_ns = std::max(reach.last_ns, traffic->last_ns);
            reach.time_ns += traffic->time_ns;
        }
    const auto is_stay = [](uint64_t local_ns, uint64_t remote_ns) {
        return local_ns > 0 && static_cast<double>(local_ns) >= kLeastStay * static_cast<double>(remote_ns);
    };
    return std::ranges::any_of(reaches, [&](const std::pair<const int, Reach>& each) {
        const auto& [node, reach] = each;
        const Faults faults = faults_in(object, thread, node, reach);
        if (faults.own * 2 > faults.all)
            return true;
        uint64_t used_ns = 0;
        for (const model::MemoryTraffic* traffic : object.traffic)
            if (traffic->thread == thread && traffic->cpu_node == node && traffic->page_node == node &&
                traffic->first_ns < reach.last_ns)
                used_ns += traffic->time_ns;
        if (is_stay(used_ns, reach.time_ns))
            return true;
        if (faults.all > 0)
            return false; // others touched it
        uint64_t there_ns = 0, away_ns = 0;
        for (const model::MemoryEpoch& epoch : process.memory.epochs)
            if (epoch.thread == thread && epoch.page_node == node && epoch.begin_ns < reach.last_ns)
                (epoch.cpu_node == node ? there_ns : away_ns) += epoch.time_ns;
        return is_stay(there_ns, std::max(away_ns, reach.time_ns));
    });
}

// Most of the remote accesses are of threads that left their memory.
bool was_left(const model::Process& process, const MemoryObject& object) {
    uint64_t behind = 0;
    for (const auto& [thread, user] : object.users)
        if (user.remote > 0 && left(process, object, thread))
            behind += user.remote;
    return behind * 2 > object.remote_samples;
}

// Of the faults in it, those that got a page of another node; of the accesses, where no fault was seen.
double elsewhere_share(const MemoryObject& object) {
    uint64_t elsewhere = 0, all = 0;
    for (const model::FirstTouch* touch : object.touches) {
        if (touch->cpu_node < 0 || touch->page_node < 0)
            continue;
        all += touch->faults;
        elsewhere += touch->cpu_node != touch->page_node ? touch->faults : 0;
    }
    if (all == 0)
        return static_cast<double>(object.remote_samples) / static_cast<double>(object.samples);
    return static_cast<double>(elsewhere) / static_cast<double>(all);
}

// Its pages went elsewhere because the node that they were wanted on was full of cached files.
bool was_spilled(const model::Run& run, const MemoryObject& object) {
    const model::Host* host = host_of(run, run.processes[object.process]);
    if (!host || elsewhere_share(object) < kSpilled)
        return false;
    const int from = spilled_from(object);
    return std::ranges::any_of(spills_of(*host), [&](const NodeSpill& spill) { return spill.node == from; });
}

// Its pages went elsewhere because those who placed their memory there need more than the node has, whatever is cached.
bool was_crowded_out(const model::Run& run, const MemoryObject& object, const CrowdedNodes& crowded) {
    const model::Process& process = run.processes[object.process];
    const auto nodes = crowded.find(host_of(run, process));
    return nodes != crowded.end() && !is_interleaved(process) && elsewhere_share(object) >= kCrowdedOut &&
           nodes->second.contains(spilled_from(object));
}

// One thread touched it, and others use it: then it is not their own need that fills the node.
bool touched_for_others(const MemoryObject& object, const MemoryVerdict& verdict) {
    if (!verdict.touch_known || verdict.touch_share < kOneToucher)
        return false;
    const auto user = object.users.find(verdict.toucher);
    return user == object.users.end() || user->second.samples * 2 < object.samples;
}

uint64_t foreign_stores(const MemoryObject& object, const MemoryVerdict& verdict) {
    uint64_t stores = 0;
    for (const auto& [thread, user] : object.users)
        if (!verdict.touch_known || thread != verdict.toucher)
            stores += user.stores;
    return stores;
}

MemoryCause cause_of(const model::Run& run, const MemoryObject& object, const MemoryVerdict& verdict,
                     const CrowdedNodes& crowded_nodes) {
    const model::Process& process = run.processes[object.process];
    uint64_t most = 0;
    uint32_t main_user = 0;
    for (const auto& [thread, user] : object.users)
        if (user.samples > most)
            std::tie(most, main_user) = std::pair(user.samples, thread);
    const bool one_user = static_cast<double>(most) >= kOneUser * static_cast<double>(object.samples);
    const bool by_many = !one_user && object.user_nodes(kUserNode) >= 2;
    const bool serial = verdict.touch_known && verdict.touch_share >= kOneToucher;
    if (by_many && verdict.home_share < kConcentrated && verdict.partition < kPartitioned)
        return MemoryCause::none; // shared by all and spread over the nodes: no place would be better
    const bool crowded = !touched_for_others(object, verdict) && was_crowded_out(run, object, crowded_nodes);
    if (by_many && verdict.home_share >= kConcentrated) {
        if (!object.touches.empty() && crowded)
            return MemoryCause::crowded;
        if (!object.touches.empty() && was_spilled(run, object))
            return MemoryCause::spilled;
        if (verdict.partition < kPartitioned)
            return MemoryCause::hot_node;
        return serial || !verdict.touch_known ? MemoryCause::serial_first_touch : MemoryCause::other;
    }
    if (crowded)
        return MemoryCause::crowded;
    if (was_spilled(run, object))
        return MemoryCause::spilled;
    if (was_left(process, object))
        return MemoryCause::left_behind;
    if (one_user && serial && verdict.toucher != main_user && verdict.home_share >= kConcentrated)
        return MemoryCause::serial_first_touch;
    return MemoryCause::other;
}

} // namespace

int spilled_from(const MemoryObject& object) {
    std::map<int, double> remote_s;
    for (const auto& [nodes, flow] : object.matrix)
        if (nodes.first != nodes.second)
            remote_s[nodes.first] += flow.seconds;
    const auto most = std::ranges::max_element(remote_s, {}, &std::pair<const int, double>::second);
    return most == remote_s.end() ? -1 : most->first;
}

void MemoryCase::add(const MemoryObject& object) {
    objects.push_back(&object);
    samples += object.samples;
    remote_samples += object.remote_samples;
    stores += object.stores;
    seconds += object.seconds;
    remote_s += object.remote_s;
    excess_s += object.excess_s;
    for (const auto& [nodes, flow] : object.matrix) {
        matrix[nodes].samples += flow.samples;
        matrix[nodes].seconds += flow.seconds;
    }
}

MemoryVerdict verdict_on(const model::Run& run, const MemoryObject& object, const CrowdedNodes& crowded) {
    MemoryVerdict verdict;
    std::tie(verdict.home, verdict.home_share) = object.home();
    verdict.partition = object.partition();
    std::tie(verdict.toucher, verdict.touch_share) = object.first_toucher();
    verdict.touch_known = verdict.touch_share > 0;
    verdict.read_only = static_cast<double>(foreign_stores(object, verdict)) <=
                        kReadOnly * static_cast<double>(object.samples);
    if (object.remote_samples >= kLeastRemote &&
        static_cast<double>(object.remote_samples) >= kLeastRemoteShare * static_cast<double>(object.samples))
        verdict.cause = cause_of(run, object, verdict, crowded);
    return verdict;
}

MemoryCases memory_cases_of(const model::Run& run, const std::vector<MemoryObject>& objects) {
    std::map<MemoryCause, std::map<std::pair<NamedMemory::Kind, std::string>, MemoryCase>> by_name;
    const CrowdedNodes crowded = objects.empty() ? CrowdedNodes{} : crowded_nodes(run);
    for (const MemoryObject& object : objects) { // by remote time
        const MemoryVerdict verdict = verdict_on(run, object, crowded);
        if (verdict.cause == MemoryCause::none)
            continue;
        MemoryCase& one = by_name[verdict.cause][{object.memory.kind, object.memory.name}];
        if (one.objects.empty())
            one.verdict = verdict;
        one.add(object);
    }
    MemoryCases cases;
    for (auto& [cause, named] : by_name) {
        for (auto& [name, one] : named)
            cases[cause].push_back(std::move(one));
        std::ranges::stable_sort(cases[cause], std::greater<>(), &MemoryCase::remote_s);
    }
    return cases;
}

} // namespace plumb
