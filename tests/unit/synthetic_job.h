// MPI jobs made up for tests: ranks compute, meet and send messages by a simple model of time, and their trace files are
// written as the shim would. What the replay must find can be worked out by hand.
#pragma once

#include "replay/replay.h"
#include "synthetic_trace.h"
#include "trace/build_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace plumb::testing {

class SyntheticJob {
  public:
    static constexpr uint64_t kBegin_ns = 1'000'000'000'000;
    static constexpr uint64_t kTicks_per_ns = 3;

    // `host_of`: number of the host of a rank; empty: all on one.
    // `executable_of`: path of a rank's program; empty: one for all.
    explicit SyntheticJob(int size, std::function<int(int)> host_of = {}, std::function<std::string(int)> executable_of = {})
        : host_of_(std::move(host_of)), executable_of_(std::move(executable_of)) {
        for (int rank = 0; rank < size; ++rank) {
            const int host = host_of_ ? host_of_(rank) : 0;
            traces_.emplace_back(trace::Writer::process, 100 + static_cast<uint64_t>(rank),
                                 ("node" + std::to_string(host)).c_str());
            ranks_.emplace_back();
        }
        for (int rank = 0; rank < size; ++rank)
            begin_file(rank);
    }

    int size() const { return static_cast<int>(ranks_.size()); }
    double now(int rank) const { return ranks_[at(rank)].now_s; }

    // Host `host`'s clock is ahead of the first one's by `offset_s`, and gains `drift` seconds a second.
    void set_clock(int host, double offset_s, double drift = 0) { clocks_[host] = {offset_s, drift}; }

    void compute(int rank, double seconds) { ranks_[at(rank)].now_s += seconds; }
    void compute_all(double seconds) {
        for (Rank& rank : ranks_)
            rank.now_s += seconds;
    }

    // The rank has no CPU for so long. `taker`: tid of who has it meanwhile, 0: nobody of the run; rank r's is 100 + r.
    void preempt(int rank, double seconds, int cpu, uint32_t taker = 0) {
        Rank& state = ranks_[at(rank)];
        trace::Preemption record{};
        record.pid = 100 + static_cast<uint32_t>(rank);
        record.cpu = cpu;
        record.begin_ns = host_ns(rank, state.now_s);
        record.end_ns = host_ns(rank, state.now_s + seconds);
        record.taker = taker;
        traces_[at(rank)].add(record, record.pid);
        state.now_s += seconds;
    }

    // A program outside the run that used CPU time on the host of `rank`.
    void other_program(int rank, uint32_t pid, const std::string& name, int cpu, double begin_s, double end_s, double cpu_s) {
        trace::OtherProcess process{};
        process.name = traces_[at(rank)].text(name);
        process.last_cpu = cpu;
        process.cpu_ns = static_cast<uint64_t>(cpu_s * 1e9);
        process.first_ns = host_ns(rank, begin_s);
        process.last_ns = host_ns(rank, end_s);
        traces_[at(rank)].add(process, pid);
        trace::OtherActivity activity{};
        activity.cpu = cpu;
        activity.begin_ns = process.first_ns;
        activity.end_ns = process.last_ns;
        activity.cpu_ns = process.cpu_ns;
        traces_[at(rank)].add(activity, pid);
    }

    // One that synchronises; all leave `operation_s` after the last has entered. Which members: empty for all.
    void allreduce(double operation_s = 0, const std::vector<int>& members = {}, const char* call = "MPI_Allreduce") {
        meet(call, trace::kMpiCollectiveCall | trace::kMpiSynchronising, members, -1, [&](int, const Entered& entered) {
            return entered.last_s + operation_s;
        });
    }

    // Nobody leaves before the root has entered; the root itself does not wait.
    void bcast(int root, double operation_s = 0) {
        meet("MPI_Bcast", trace::kMpiCollectiveCall | trace::kMpiFromRoot, {}, root, [&](int rank, const Entered& entered) {
            return std::max(entered.own_s[at(rank)], entered.own_s[at(root)]) + operation_s;
        });
    }

    // The root leaves after the last has entered; nobody else waits.
    void reduce(int root, double operation_s = 0) {
        meet("MPI_Reduce", trace::kMpiCollectiveCall | trace::kMpiToRoot, {}, root, [&](int rank, const Entered& entered) {
            return (rank == root ? entered.last_s : entered.own_s[at(rank)]) + operation_s;
        });
    }

    // A blocking send and a blocking receive. The sender goes on at once unless it is `synchronous`.
    void message(int from, int to, uint64_t bytes, double transfer_s, bool synchronous = false) {
        Rank &sender = ranks_[at(from)], &receiver = ranks_[at(to)];
        const double sent = sender.now_s, received = receiver.now_s;
        const double arrived = std::max(sent, received) + transfer_s;
        const double sender_end = synchronous ? std::max(sent, received) : sent;
        add_message(from, to, true, bytes, sent, sender_end, synchronous);
        add_message(to, from, false, bytes, received, arrived, false);
        sequences_[{from, to}]++;
        leave(sender, sent, sender_end);
        leave(receiver, received, arrived);
    }

    // Where a function is called from: an address in the program.
    static uint64_t call_address(const std::string& call) {
        uint64_t hash = 0;
        for (const char character : call)
            hash = hash * 131 + static_cast<unsigned char>(character);
        return kProgram + 16 * (1 + hash % 4096);
    }
    static constexpr uint64_t kProgram = 0x400000;

    // A look at the scheduler's counters of a rank: what it did from the look before, which may have been at the job's begin, until now.
    void look(int rank, double run_s, double run_delay_s) {
        std::vector<model::ThreadInterval>& looks = looks_[rank];
        const uint64_t before = looks.empty() ? kBegin_ns : looks.back().end_ns;
        looks.push_back({.begin_ns = before, .end_ns = host_ns(rank, now(rank)), .cpu = 0,
                         .run_ns = static_cast<uint64_t>(run_s * 1e9), .run_delay_ns = static_cast<uint64_t>(run_delay_s * 1e9),
                         .migrations = 0, .state = 'R'});
    }

    // The run as `plumb report` would see it. `threads`: that share the replay.
    model::Run replay(unsigned threads = 1, bool steps = false) {
        finish_files();
        std::vector<trace::TraceReader> files;
        for (int rank = 0; rank < size(); ++rank)
            files.push_back(traces_[at(rank)].open(name(rank)));
        model::Run run = trace::build_run(files, nullptr);
        for (model::Process& process : run.processes)
            if (const auto looks = looks_.find(process.rank); looks != looks_.end()) {
                if (process.threads.empty())
                    process.threads.emplace_back();
                process.threads[0].intervals = looks->second;
            }
        replay::replay_mpi(run, {.threads = threads, .open = [this](const std::string& file) {
                               if (file == missing_)
                                   throw Error(file + ": no such file");
                               return traces_[static_cast<size_t>(std::stoul(file.substr(4)))].open(file);
                           }, .steps = steps});
        return run;
    }

    void lose_file(int rank) { missing_ = name(rank); } // it cannot be read a second time
    uint64_t collective_stride = 1;

  private:
    struct Rank {
        double now_s = 0;
        double collective_end_s = 0; // of the last one
        double mpi_since_s = 0;      // in other MPI calls since then
        double mpi_s = 0;
        std::map<std::string, uint32_t> sites;
        std::map<uint32_t, trace::MpiSite> records;
        std::map<std::vector<int>, uint32_t> comms;
    };
    struct Entered {
        std::vector<double> own_s;
        double last_s;
    };
    struct HostClock {
        double offset_s = 0, drift = 0;
    };

    static size_t size_class(uint64_t bytes) { return static_cast<size_t>(std::min(31, static_cast<int>(std::bit_width(bytes)))); }
    static size_t at(int rank) { return static_cast<size_t>(rank); }
    static std::string name(int rank) { return "rank" + std::to_string(rank); }
    int host(int rank) const { return host_of_ ? host_of_(rank) : 0; }

    uint64_t host_ns(int rank, double seconds) {
        const HostClock clock = clocks_[host(rank)];
        return kBegin_ns + static_cast<uint64_t>(std::llround((seconds + clock.offset_s + clock.drift * seconds) * 1e9));
    }
    uint64_t ticks(int rank, double seconds) { return kTicks_per_ns * (host_ns(rank, seconds) - kBegin_ns / 2); }
    uint64_t duration_ticks(double seconds) { return static_cast<uint64_t>(seconds * 1e9 * kTicks_per_ns + 0.5); }

    void begin_file(int rank) {
        trace::SyntheticTrace& trace = traces_[at(rank)];
        trace.header().opened_ns = kBegin_ns;
        trace.header().opened_unix_ns = kBegin_ns + 1'000'000'000'000'000;
        trace::ProcessStart start{};
        start.pid = 100 + static_cast<uint32_t>(rank);
        start.time_ns = kBegin_ns;
        start.executable = trace.text(executable_of_ ? executable_of_(rank) : "/bin/app");
        start.rank = start.local_rank = rank;
        start.rank_count = size();
        trace.add(start, start.pid);
        trace::ModuleLoad module{};
        module.id = 1;
        module.pid = start.pid;
        module.time_ns = kBegin_ns;
        module.start = kProgram;
        module.end = kProgram + 0x100000;
        module.path = start.executable;
        module.flags = trace::kModuleMain;
        trace.add(module);
        std::vector<int> all;
        for (int i = 0; i < size(); ++i)
            all.push_back(i);
        comm_of(rank, all);
    }

    uint32_t comm_of(int rank, const std::vector<int>& members) {
        auto& comms = ranks_[at(rank)].comms;
        const auto [found, is_new] = comms.try_emplace(members, static_cast<uint32_t>(comms.size() + 1));
        if (is_new) {
            trace::MpiComm comm{};
            comm.id = found->second;
            comm.size = static_cast<uint32_t>(members.size());
            comm.flags = comm.size == ranks_.size() ? uint32_t{trace::kMpiCommWorld} : 0;
            for (const int member : members)
                comm.group_hash = comm.group_hash * 1000003 + static_cast<uint64_t>(member) + 1;
            comm.rank = static_cast<int32_t>(std::ranges::find(members, rank) - members.begin());
            comm.first = members.front();
            traces_[at(rank)].add(comm);
        }
        return found->second;
    }

    uint32_t site_of(int rank, const std::string& call, uint32_t kind, uint32_t comm) {
        Rank& state = ranks_[at(rank)];
        const std::string key = call + std::to_string(comm);
        const auto [found, is_new] = state.sites.try_emplace(key, static_cast<uint32_t>(state.sites.size() + 1));
        if (is_new) {
            trace::MpiSite& site = state.records[found->second];
            site.id = found->second;
            site.kind = kind;
            site.call = traces_[at(rank)].text(call);
            site.path = traces_[at(rank)].node(0, call_address(call));
            site.comm = comm;
        }
        return found->second;
    }

    void count(int rank, uint32_t site, double seconds, uint64_t bytes) {
        trace::MpiSite& record = ranks_[at(rank)].records[site];
        record.calls++;
        record.timed_calls++;
        record.ticks += duration_ticks(seconds);
        record.longest_ticks = std::max(record.longest_ticks, duration_ticks(seconds));
        record.sent_bytes += bytes;
        record.size_histogram[size_class(bytes)]++;
    }

    void leave(Rank& rank, double begin_s, double end_s) {
        rank.mpi_since_s += end_s - begin_s;
        rank.mpi_s += end_s - begin_s;
        rank.now_s = end_s;
    }

    template <class End>
    void meet(const char* call, uint32_t kind, std::vector<int> members, int root, const End& end_of) {
        if (members.empty())
            for (int rank = 0; rank < size(); ++rank)
                members.push_back(rank);
        Entered entered{std::vector<double>(ranks_.size()), 0};
        for (const int rank : members) {
            entered.own_s[at(rank)] = now(rank);
            entered.last_s = std::max(entered.last_s, now(rank));
        }
        const uint64_t sequence = meetings_[members]++;
        for (const int rank : members) {
            Rank& state = ranks_[at(rank)];
            const double begin = state.now_s, end = end_of(rank, entered);
            trace::MpiCollective record{};
            record.comm = comm_of(rank, members);
            record.site = site_of(rank, call, kind, record.comm);
            record.sequence = sequence;
            record.begin_ticks = record.wait_ticks = ticks(rank, begin);
            record.end_ticks = ticks(rank, end);
            record.gap_ticks = duration_ticks(begin - state.collective_end_s);
            record.gap_mpi_ticks = duration_ticks(state.mpi_since_s);
            record.root = root < 0 ? UINT32_MAX
                                   : static_cast<uint32_t>(std::ranges::find(members, root) - members.begin());
            record.bytes = 8;
            if (sequence % collective_stride == 0)
                traces_[at(rank)].add(record, 100 + static_cast<uint32_t>(rank));
            count(rank, record.site, end - begin, 8);
            leave(state, begin, end);
            state.mpi_since_s = 0;
            state.collective_end_s = end;
        }
    }

    void add_message(int rank, int peer, bool sent, uint64_t bytes, double begin, double end, bool synchronous) {
        trace::MpiMessage record{};
        record.comm = 1;
        record.site = record.wait_site =
            site_of(rank, sent ? "MPI_Send" : "MPI_Recv", sent ? trace::kMpiSend : trace::kMpiReceive, 1);
        record.peer = peer;
        record.flags = (sent ? uint32_t{trace::kMpiMessageSent} : 0) |
                       (synchronous ? uint32_t{trace::kMpiMessageSynchronous} : 0);
        record.sequence = sequences_[sent ? std::pair(rank, peer) : std::pair(peer, rank)];
        record.begin_ticks = record.wait_ticks = ticks(rank, begin);
        record.end_ticks = ticks(rank, end);
        record.bytes = bytes;
        traces_[at(rank)].add(record, 100 + static_cast<uint32_t>(rank));
        count(rank, record.site, end - begin, bytes);
        if (sent) {
            trace::MpiPeer& sum = peers_[{rank, peer}];
            sum.messages++;
            sum.bytes += bytes;
            sum.size_histogram[size_class(bytes)]++;
        }
    }

    void finish_files() {
        for (int rank = 0; rank < size(); ++rank) {
            Rank& state = ranks_[at(rank)];
            for (const auto& [id, record] : state.records)
                traces_[at(rank)].add(record, 100 + static_cast<uint32_t>(rank));
            trace::MpiRank record{};
            record.library = static_cast<uint32_t>(trace::MpiLibrary::mpich);
            record.rank = rank;
            record.size = size();
            record.job = traces_[at(rank)].text("job");
            record.first_ticks = ticks(rank, 0);
            record.first_ns = record.init_end_ns = host_ns(rank, 0);
            record.last_ticks = ticks(rank, state.now_s);
            record.last_ns = record.finalize_begin_ns = host_ns(rank, state.now_s);
            record.mpi_ticks = duration_ticks(state.mpi_s);
            record.collectives = meetings_.empty() ? 0 : meetings_.begin()->second;
            record.collective_stride = collective_stride;
            traces_[at(rank)].add(record, 100 + static_cast<uint32_t>(rank));
        }
        for (const auto& [pair, sum] : peers_) {
            trace::MpiPeer record = sum;
            record.peer = pair.second;
            record.direction = static_cast<uint32_t>(trace::MpiDirection::sent);
            traces_[at(pair.first)].add(record);
        }
    }

    std::function<int(int)> host_of_;
    std::function<std::string(int)> executable_of_;
    std::vector<trace::SyntheticTrace> traces_;
    std::vector<Rank> ranks_;
    std::map<int, HostClock> clocks_;
    std::map<std::vector<int>, uint64_t> meetings_;
    std::map<std::pair<int, int>, uint64_t> sequences_;
    std::map<std::pair<int, int>, trace::MpiPeer> peers_;
    std::string missing_;
    std::map<int, std::vector<model::ThreadInterval>> looks_;
};

} // namespace plumb::testing
