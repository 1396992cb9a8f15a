#include "noise/takers.h"

#include "noise/displaced.h"
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

// Who took the CPUs of each host. What any thread of the run lost there counts.
std::map<uint32_t, std::map<int, CpuTakers>> cpu_takers(const model::Run& run, const std::vector<WatchedThread>& watched) {
    std::map<uint32_t, std::map<int, CpuTakers>> result;
    for (const WatchedThread& one : watched) {
        if (one.host >= run.hosts.size() || result.contains(one.host))
            continue;
        std::vector<LostCpu> lost;
        for (const model::Process& process : run.processes)
            if (process.host == run.hosts[one.host].name)
                for (const model::Thread& thread : process.threads)
                    for (const model::Preemption& preemption : thread.preemptions)
                        if (preemption.taker == 0 && !preemption.by_recorder)
                            lost.push_back({preemption.cpu, preemption.begin_ns, preemption.end_ns});
        result.emplace(one.host, takers_by_cpu(run.hosts[one.host], std::move(lost)));
    }
    return result;
}

struct GatheredTaker {
    NoiseTaker taker;
    std::map<uint32_t, std::pair<double, std::set<int>>> hosts; // seconds and CPUs
    std::set<std::pair<uint32_t, size_t>> processes;            // of programs: host, and index into its others
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
    for (std::vector<model::NoiseLoss>* losses : {&taker.losses.losses, &taker.drove})
        std::ranges::stable_sort(*losses, {}, [](const model::NoiseLoss& loss) { return std::tuple(loss.node, loss.cpu, loss.begin_s); });
    taker.losses.nodes = static_cast<uint32_t>(run.hosts.size());
    taker.losses.measured_s = static_cast<double>(run.wall_ns()) * 1e-9;
    for (const auto& [host, of_host] : gathered.hosts)
        taker.losses.cpus_per_node = std::max(taker.losses.cpus_per_node, static_cast<uint32_t>(of_host.second.size()));
}

// The preemptions of all watched threads, by who took the CPU.
class TakerGathering {
  public:
    TakerGathering(const model::Run& run, const std::vector<WatchedThread>& watched) : run_(run), threads_(run, watched) {
        by_cpu_ = cpu_takers(run, watched);
        const std::vector<std::vector<const model::Preemption*>> displaced = displaced_by(run, watched);
        found_.taken.resize(watched.size());
        for (size_t i = 0; i < watched.size(); ++i)
            take(i, watched[i], displaced[i]);
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
    void take(size_t index, const WatchedThread& watched, const std::vector<const model::Preemption*>& displaced) {
        const model::Process& process = run_.processes[watched.process];
        if (watched.thread >= process.threads.size())
            return;
        const model::Thread& thread = process.threads[watched.thread];
        all_s_ += static_cast<double>(thread.switches.preempted_ns) * 1e-9;
        std::vector<TakenInterval>& taken = found_.taken[index];
        for (size_t place = 0; place < thread.preemptions.size(); ++place) {
            const model::Preemption& one = thread.preemptions[place];
            recorded_s_ += static_cast<double>(one.end_ns - one.begin_ns) * 1e-9;
            const uint64_t begin = std::max({one.begin_ns, watched.begin_ns, taken.empty() ? 0 : taken.back().end_ns});
            const uint64_t end = std::min(one.end_ns, watched.end_ns);
            if (end <= begin)
                continue;
            const model::Preemption* const origin = displaced[place];
            GatheredTaker& taker = taker_of(process, watched.host, origin ? *origin : one);
            const double length_s = static_cast<double>(end - begin) * 1e-9;
            taker.places.push_back({index, taken.size()});
            taken.push_back({begin, end, 0});
            if (origin) {
                taker.taker.displaced_s += length_s;
                if (taker.taker.drove.size() < kMostLosses)
                    taker.taker.drove.push_back(loss_of(watched.host, *origin, origin->begin_ns, origin->end_ns));
                continue;
            }
            taker.taker.preemptions++;
            taker.taker.taken_s += length_s;
            auto& [host_s, cpus] = taker.hosts[watched.host];
            host_s += length_s;
            cpus.insert(one.cpu);
            if (taker.taker.losses.losses.size() < kMostLosses)
                taker.taker.losses.losses.push_back(loss_of(watched.host, one, begin, end));
        }
    }

    model::NoiseLoss loss_of(uint32_t host, const model::Preemption& one, uint64_t begin_ns, uint64_t end_ns) const {
        return {host, one.cpu, static_cast<double>(static_cast<int64_t>(begin_ns - run_.begin_ns)) * 1e-9,
                static_cast<double>(end_ns - begin_ns) * 1e-9};
    }

    GatheredTaker& taker_of(const model::Process& process, uint32_t host, const model::Preemption& one) {
        TakerKey key;
        const std::vector<size_t>* programs = nullptr;
        if (one.taker)
            key = threads_.key_of(process.host, one.taker, one.begin_ns);
        else if (one.by_recorder)
            key = {NoiseTaker::Kind::recorder, {"plumb"}};
        else if ((programs = programs_at(host, one))) {
            if (const auto known = of_programs_.find(programs); known != of_programs_.end())
                return *known->second;
            key = {NoiseTaker::Kind::programs, names_of(host, *programs)};
        }
        GatheredTaker& taker = gathered_[key];
        taker.taker.kind = key.kind;
        taker.taker.names = key.names;
        if (programs) {
            of_programs_[programs] = &taker;
            add_processes(taker, host, *programs);
        }
        return taker;
    }

    const std::vector<size_t>* programs_at(uint32_t host, const model::Preemption& one) const {
        const auto of_host = by_cpu_.find(host);
        if (of_host == by_cpu_.end())
            return nullptr;
        const auto of_cpu = of_host->second.find(one.cpu);
        if (of_cpu == of_host->second.end())
            return nullptr;
        const uint32_t taker = of_cpu->second.taker_at(one.begin_ns);
        return taker == CpuTakers::kNobody ? nullptr : &of_cpu->second.takers[taker];
    }

    std::vector<std::string> names_of(uint32_t host, const std::vector<size_t>& programs) const {
        std::vector<std::string> names;
        for (const size_t other : programs)
            if (const std::string& name = run_.hosts[host].others[other].name; std::ranges::find(names, name) == names.end())
                names.push_back(name);
        return names;
    }

    void add_processes(GatheredTaker& taker, uint32_t host, const std::vector<size_t>& programs) const {
        for (const size_t other : programs) {
            if (!taker.processes.insert({host, other}).second)
                continue;
            const model::OtherProcess& process = run_.hosts[host].others[other];
            taker.taker.programs_cpu_s += static_cast<double>(process.cpu_ns) * 1e-9;
            const auto name = std::ranges::find(taker.taker.names, process.name);
            if (static_cast<size_t>(name - taker.taker.names.begin()) == taker.taker.pids.size()) // one of each program
                taker.taker.pids.push_back(process.pid);
        }
    }

    const model::Run& run_;
    const RunThreads threads_;
    std::map<uint32_t, std::map<int, CpuTakers>> by_cpu_; // by host
    std::map<TakerKey, GatheredTaker> gathered_;
    std::map<const std::vector<size_t>*, GatheredTaker*> of_programs_; // in by_cpu_
    FoundTakers found_;
    double recorded_s_ = 0, all_s_ = 0;
};

} // namespace

FoundTakers find_takers(const model::Run& run, const std::vector<WatchedThread>& watched) {
    return TakerGathering(run, watched).finish();
}

} // namespace plumb::noise
