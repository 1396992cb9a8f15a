#include "noise/takers.h"

#include "noise/programs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace plumb::noise {

namespace {

using model::NoiseTaker;
constexpr size_t kMostLosses = 1 << 18; // kept one by one, of each taker

// What makes two preemptions one taker's.
struct TakerKey {
    NoiseTaker::Kind kind = NoiseTaker::Kind::unknown;
    std::vector<std::string> names;
    auto operator<=>(const TakerKey&) const = default;
};

// Threads of the run by host and tid; the system may have given a tid out twice.
class RunThreads {
  public:
    RunThreads(const model::Run& run, const std::vector<WatchedThread>& watched) : run_(run) {
        for (uint32_t process = 0; process < run.processes.size(); ++process)
            for (uint32_t thread = 0; thread < run.processes[process].threads.size(); ++thread)
                of_tid_[{run.processes[process].host, run.processes[process].threads[thread].tid}].push_back({process, thread});
        for (const WatchedThread& one : watched)
            watched_.insert({one.process, one.thread});
    }

    TakerKey key_of(const std::string& host, uint32_t tid, uint64_t time_ns) const {
        const auto found = of_tid_.find({host, tid});
        if (found == of_tid_.end())
            return {NoiseTaker::Kind::own_thread, {"another thread of the run"}};
        std::pair<uint32_t, uint32_t> latest = found->second.front();
        for (const auto& place : found->second)
            if (run_.processes[place.first].threads[place.second].start_ns <= time_ns)
                latest = place;
        if (watched_.contains(latest))
            return {NoiseTaker::Kind::peer, {}};
        const std::string& program = run_.processes[latest.first].name;
        const std::string& thread = run_.processes[latest.first].threads[latest.second].name;
        return {NoiseTaker::Kind::own_thread, {thread.empty() || thread == program ? program : program + " (" + thread + ")"}};
    }

  private:
    const model::Run& run_;
    std::map<std::pair<std::string, uint32_t>, std::vector<std::pair<uint32_t, uint32_t>>> of_tid_;
    std::set<std::pair<uint32_t, uint32_t>> watched_;
};

struct OfPrograms {
    TakerKey key;
    std::vector<uint32_t> pids; // as key.names
    double cpu_s = 0;
};

// By host and CPU. What any thread of the run lost there counts.
std::map<std::pair<uint32_t, int>, OfPrograms> programs_of(const model::Run& run, const std::set<uint32_t>& hosts) {
    std::map<std::pair<uint32_t, int>, OfPrograms> result;
    for (const uint32_t host : hosts) {
        std::vector<LostCpu> lost;
        for (const model::Process& process : run.processes)
            if (process.host == run.hosts[host].name)
                for (const model::Thread& thread : process.threads)
                    for (const model::Preemption& one : thread.preemptions)
                        if (one.taker == 0 && !one.by_recorder)
                            lost.push_back({one.cpu, one.begin_ns, one.end_ns});
        for (const auto& [cpu, shares] : programs_by_cpu(run.hosts[host], std::move(lost))) {
            OfPrograms& programs = result[{host, cpu}];
            programs.key.kind = NoiseTaker::Kind::programs;
            for (const ProgramShare& share : shares) {
                const model::OtherProcess& other = run.hosts[host].others[share.other];
                programs.cpu_s += static_cast<double>(other.cpu_ns) * 1e-9;
                if (std::ranges::find(programs.key.names, other.name) != programs.key.names.end())
                    continue;
                programs.key.names.push_back(other.name);
                programs.pids.push_back(other.pid);
            }
        }
    }
    return result;
}

struct GatheredTaker {
    NoiseTaker taker;
    std::map<uint32_t, std::pair<double, std::set<int>>> hosts; // seconds and CPUs
    std::vector<std::pair<size_t, size_t>> places;              // watched thread, and place in its list
};

void finish_taker(const model::Run& run, GatheredTaker& gathered) {
    NoiseTaker& taker = gathered.taker;
    taker.hosts = static_cast<uint32_t>(gathered.hosts.size());
    const auto most = std::ranges::max_element(gathered.hosts, {}, [](const auto& entry) { return entry.second.first; });
    if (most != gathered.hosts.end()) {
        taker.host = most->first;
        taker.cpus.assign(most->second.second.begin(), most->second.second.end());
    }
    std::ranges::stable_sort(taker.losses.losses, {}, [](const model::NoiseLoss& loss) {
        return std::tuple(loss.node, loss.cpu, loss.begin_s);
    });
    taker.losses.nodes = static_cast<uint32_t>(run.hosts.size());
    taker.losses.measured_s = static_cast<double>(run.wall_ns()) * 1e-9;
    for (const auto& [host, of_host] : gathered.hosts)
        taker.losses.cpus_per_node = std::max(taker.losses.cpus_per_node, static_cast<uint32_t>(of_host.second.size()));
}

// The preemptions of all watched threads, by who took the CPU.
class TakerGathering {
  public:
    TakerGathering(const model::Run& run, const std::vector<WatchedThread>& watched) : run_(run), threads_(run, watched) {
        std::set<uint32_t> hosts;
        for (const WatchedThread& one : watched)
            if (one.host < run.hosts.size())
                hosts.insert(one.host);
        programs_ = programs_of(run, hosts);
        found_.taken.resize(watched.size());
        for (size_t i = 0; i < watched.size(); ++i)
            take(i, watched[i]);
    }

    FoundTakers finish() && {
        std::vector<GatheredTaker*> order;
        for (auto& [key, each] : gathered_)
            order.push_back(&each);
        std::ranges::stable_sort(order, std::ranges::greater(), [](const GatheredTaker* each) { return each->taker.taken_s; });
        for (size_t i = 0; i < order.size(); ++i) {
            const auto index = static_cast<uint32_t>(std::min<size_t>(i, FoundTakers::kMostTakers));
            for (const auto& [thread, place] : order[i]->places)
                found_.taken[thread][place].taker = index;
            if (i < FoundTakers::kMostTakers) {
                finish_taker(run_, *order[i]);
                found_.takers.push_back(std::move(order[i]->taker));
            }
        }
        found_.recorded_share = all_s_ > 0 ? std::min(1.0, recorded_s_ / all_s_) : 1;
        return std::move(found_);
    }

  private:
    void take(size_t index, const WatchedThread& watched) {
        const model::Process& process = run_.processes[watched.process];
        if (watched.thread >= process.threads.size())
            return;
        const model::Thread& thread = process.threads[watched.thread];
        all_s_ += static_cast<double>(thread.switches.preempted_ns) * 1e-9;
        std::vector<TakenInterval>& taken = found_.taken[index];
        for (const model::Preemption& one : thread.preemptions) {
            recorded_s_ += static_cast<double>(one.end_ns - one.begin_ns) * 1e-9;
            const uint64_t begin = std::max({one.begin_ns, watched.begin_ns, taken.empty() ? 0 : taken.back().end_ns});
            const uint64_t end = std::min(one.end_ns, watched.end_ns);
            if (end <= begin)
                continue;
            GatheredTaker& taker = taker_of(process, watched.host, one);
            const double length_s = static_cast<double>(end - begin) * 1e-9;
            taker.taker.preemptions++;
            taker.taker.taken_s += length_s;
            auto& [host_s, cpus] = taker.hosts[watched.host];
            host_s += length_s;
            cpus.insert(one.cpu);
            taker.places.push_back({index, taken.size()});
            taken.push_back({begin, end, 0});
            if (taker.taker.losses.losses.size() < kMostLosses)
                taker.taker.losses.losses.push_back(
                    {watched.host, one.cpu, static_cast<double>(static_cast<int64_t>(begin - run_.begin_ns)) * 1e-9, length_s});
        }
    }

    GatheredTaker& taker_of(const model::Process& process, uint32_t host, const model::Preemption& one) {
        const auto of_cpu = programs_.find({host, one.cpu});
        TakerKey key;
        if (one.taker)
            key = threads_.key_of(process.host, one.taker, one.begin_ns);
        else if (one.by_recorder)
            key = {NoiseTaker::Kind::recorder, {"plumb"}};
        else if (of_cpu != programs_.end())
            key = of_cpu->second.key;
        GatheredTaker& taker = gathered_[key];
        taker.taker.kind = key.kind;
        taker.taker.names = key.names;
        if (key.kind == NoiseTaker::Kind::programs && taker.taker.pids.empty()) {
            taker.taker.pids = of_cpu->second.pids;
            taker.taker.programs_cpu_s = of_cpu->second.cpu_s;
        }
        return taker;
    }

    const model::Run& run_;
    const RunThreads threads_;
    std::map<std::pair<uint32_t, int>, OfPrograms> programs_;
    std::map<TakerKey, GatheredTaker> gathered_;
    FoundTakers found_;
    double recorded_s_ = 0, all_s_ = 0;
};

} // namespace

FoundTakers find_takers(const model::Run& run, const std::vector<WatchedThread>& watched) {
    return TakerGathering(run, watched).finish();
}

} // namespace plumb::noise
